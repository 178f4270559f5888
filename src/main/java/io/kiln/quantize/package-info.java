// SPDX-License-Identifier: Apache-2.0
/** Post-training quantisation: a float network and samples become a network in integers, with TensorFlow Lite's arithmetic. */
package io.kiln.quantize;
