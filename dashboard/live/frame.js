// Hands a frame to the live view's module, or keeps it until that has arrived.
export default function frame(component) {
  const desk = (globalThis.tsetlinLive ??= { waiting: [] });
  if (desk.frameIn) return desk.frameIn(component);
  return new Promise((keep) => desk.waiting.push({ component, keep }));
}
