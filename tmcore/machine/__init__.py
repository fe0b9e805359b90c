"""The Tsetlin machine itself: random draws, arrays, compiled kernels, and the plain-Python twin they are checked against."""
