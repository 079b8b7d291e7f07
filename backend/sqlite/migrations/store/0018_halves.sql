-- Vectors whose numbers 16 bits hold are stored in that, with a byte behind them; see packVector. Earlier releases can't read them.
SELECT 1;
