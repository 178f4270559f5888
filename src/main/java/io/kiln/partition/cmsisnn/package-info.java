// SPDX-License-Identifier: Apache-2.0
/** Arm's CMSIS-NN as a code generator: the composites of TVM's {@code cmsis-nn}, computed by CMSIS-NN's functions, whose sources the user brings. */
package io.kiln.partition.cmsisnn;
