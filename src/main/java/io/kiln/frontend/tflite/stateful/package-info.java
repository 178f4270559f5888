// SPDX-License-Identifier: Apache-2.0
/** Importers of operators with state and of control flow. */
package io.kiln.frontend.tflite.stateful;
