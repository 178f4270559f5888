// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.space;

import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.target.CpuFeatures;

/**
 * A layer for which a schedule is chosen, with the outputs of its lowering.
 *
 * @param workload the layer on its core
 * @param tables receives constants
 * @param buffers parameters; scratch is reserved here
 */
public record ConvTask(Workload workload, Tables tables, OperatorBuffers buffers) {

    public ConvComputation conv() {
        return workload.conv();
    }

    public Rows rows() {
        return workload.rows();
    }

    public CpuFeatures features() {
        return workload.features();
    }

    public boolean isForSize() {
        return workload.isForSize();
    }
}
