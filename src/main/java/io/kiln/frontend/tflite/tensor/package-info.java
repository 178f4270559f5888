// SPDX-License-Identifier: Apache-2.0
/** Tensors of the file: types, shapes, quantization and data. */
package io.kiln.frontend.tflite.tensor;
