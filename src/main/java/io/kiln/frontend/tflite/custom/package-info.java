// SPDX-License-Identifier: Apache-2.0
/** Custom operators computed by the user's C functions. */
package io.kiln.frontend.tflite.custom;
