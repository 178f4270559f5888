// SPDX-License-Identifier: Apache-2.0
/** Importers of signal operators and filter banks. */
package io.kiln.frontend.tflite.signal;
