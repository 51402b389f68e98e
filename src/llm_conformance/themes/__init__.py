"""Generated scenarios by theme. Each theme is rich in one thing, such as citations or broken streams."""
