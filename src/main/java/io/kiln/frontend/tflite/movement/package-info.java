// SPDX-License-Identifier: Apache-2.0
/** Importers of operators that move elements and compute none. */
package io.kiln.frontend.tflite.movement;
