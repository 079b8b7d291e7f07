-- Vectors of embedders of 33 to 199 dimensions are stored as multiples of a step, 12 bits each; see storerules.PackVector. Earlier releases can't read them.
SELECT 1;
