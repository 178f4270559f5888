// SPDX-License-Identifier: Apache-2.0
/** Importers of operators that copy elements without arithmetic. */
package io.kiln.frontend.tflite.movement;
