"""Which calls are still made: a method is no longer called if all its calls died alike."""
