// SPDX-License-Identifier: Apache-2.0
/** Importers of convolutions, fully connected layers and pooling. */
package io.kiln.frontend.tflite.layer;
