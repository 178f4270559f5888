// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.Optimize;
import io.kiln.lower.ConvComputation;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.target.CpuFeatures;

/**
 * A convolution or dense layer that needs a schedule.
 *
 * @param conv what to compute
 * @param rows rows of the output to compute
 * @param features of the CPU
 * @param optimize what to spare
 * @param tables receives constants, of the schedule that is taken only
 * @param buffers parameters; scratch is asked for by the schedule that is taken only
 */
record ConvTask(
        ConvComputation conv,
        Rows rows,
        CpuFeatures features,
        Optimize optimize,
        Tables tables,
        OperatorBuffers buffers) {

    boolean isForSize() {
        return optimize == Optimize.SIZE;
    }

    /** Whether weights are packed two to a byte by schedules that pay for it with time. */
    boolean packsWeights() {
        return isForSize() && FourBitWeights.fit(conv);
    }

    /** Multiply-accumulates of all windows, padding included. */
    long macs() {
        return conv.output().elements() * conv.taps();
    }
}
