"""Our own `.mmp` files: frames, columns, reader and writer; standard library and msgpack only."""
