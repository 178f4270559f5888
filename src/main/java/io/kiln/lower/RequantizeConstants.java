// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import java.util.List;

/** The constants with which a kernel requantizes the accumulators of each channel to int8. */
public sealed interface RequantizeConstants permits ProvenRequantize, StepwiseRequantize, FloorRequantize {
    /** A channel's constants in the kernel's order; as many for each channel. */
    List<Integer> constants(int channel);
}
