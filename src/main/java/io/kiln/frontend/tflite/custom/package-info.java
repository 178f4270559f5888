// SPDX-License-Identifier: Apache-2.0
/** Custom operators that C functions of the user compute. */
package io.kiln.frontend.tflite.custom;
