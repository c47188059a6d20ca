import seen from './index.js';

export const { SeenSet, plan, drop, canonicalUrl } = seen;
export default seen;
