"""Files of other recorders: Ruby's and R's VCR, go-vcr, Polly.js, and HAR archives of browsers and proxies."""
