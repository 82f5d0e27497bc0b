"""The page of `mmp report`: what it holds, made of finished tables, and how one HTML file is made of it."""
