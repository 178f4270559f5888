// SPDX-License-Identifier: Apache-2.0
/** Convolutions, matrix products, pools and normalizations. */
package io.kiln.frontend.onnx.layer;
