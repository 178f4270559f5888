// SPDX-License-Identifier: Apache-2.0
/** Post-training quantization: a float network and samples become a network in integers, with TensorFlow Lite's arithmetic. */
package io.kiln.quantize;
