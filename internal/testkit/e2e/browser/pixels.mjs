// How much of a graph the pixels of its canvas show. In the light theme, with all rows in the window.

// drawn counts the columns of the canvas: those that the first row below the root shows as busy, and those of them whose innermost
// function is marked as running itself, or is a box of combined functions. In the others something is missing.
export const drawn = (page) => page.evaluate(() => {
  const canvas = document.querySelector('canvas');
  const { width, height } = canvas;
  const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
  const row = 20;
  const color = (x, y) => pixels.subarray(4 * (y * width + x), 4 * (y * width + x) + 3);
  const edge = [15, 23, 42];
  const variants = (hex) => {
    const plain = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    return [plain, plain.map((v, i) => 0.75 * v + 0.25 * edge[i])];
  };
  const is = (...hexes) => {
    const list = hexes.flatMap(variants);
    return (x, y) => list.some((c) => c.every((v, i) => Math.abs(v - color(x, y)[i]) <= 3));
  };
  const isSheet = is('#ffffff');
  const isIdleGround = is('#f1f5f9');
  const isIdle = (x, y) => [1, 2, 17, 18].some((i) => isIdleGround(x, y + i)); // between its stripes, above and below its name
  const isMark = is('#334155', '#cbd5e1', '#64748b');
  let [busy, shown] = [0, 0];
  for (let x = 0; x < width; x++) {
    let depth = 1;
    const painted = (d) => (d + 1) * row <= height && !isSheet(x, d * row + 3);
    if (!painted(1) || isIdle(x, row)) continue;
    busy++;
    while (painted(depth + 1)) depth++;
    if (isMark(x, depth * row + 18) || isMark(x, depth * row + 17)) shown++;
  }
  return { width, busy, shown };
});
