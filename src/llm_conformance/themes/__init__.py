"""Generated scenarios, by theme: each is rich in one thing, such as citations or broken streams."""
