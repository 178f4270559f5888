// SPDX-License-Identifier: Apache-2.0
/** How a quantized network compares with the float one. */
package io.kiln.quantize.quality;
