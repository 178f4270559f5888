// SPDX-License-Identifier: Apache-2.0
/** Importers of element-wise operators. */
package io.kiln.frontend.tflite.elementwise;
