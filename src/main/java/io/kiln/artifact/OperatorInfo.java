// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import java.util.List;

/**
 * One lowered operator (a fused group).
 *
 * @param name C function name, unique in the model
 * @param layers the model's own operators fused into it, such as {@code #3 CONV_2D `conv1`}; empty for C from an
 * archive
 * @param op the fused operators' Relay names joined by {@code +}
 * @param inputs tensors read that are not constants
 * @param outputs tensors written
 * @param cost its work and memory
 * @param choice its schedule
 */
public record OperatorInfo(
        String name,
        List<String> layers,
        String op,
        List<TensorInfo> inputs,
        List<TensorInfo> outputs,
        Cost cost,
        ChosenSchedule choice) {
    public OperatorInfo {
        layers = List.copyOf(layers);
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    /** Multiply-accumulates by the model's definition. */
    public long macs() {
        return cost.macs();
    }

    /** Multiply-accumulates that the generated loops execute. */
    public long executedMacs() {
        return cost.executedMacs();
    }

    public long constantBytes() {
        return cost.constantBytes();
    }

    /** Bytes of its scratch. */
    public long workspaceBytes() {
        return cost.workspaceBytes();
    }

    /** Name of its schedule, with its knobs. */
    public String schedule() {
        return choice.schedule();
    }

    /** Why the schedule was chosen. */
    public String reason() {
        return choice.reason();
    }

    /**
     * Work and memory of an operator.
     *
     * @param macs multiply-accumulates by the model's definition
     * @param executedMacs multiply-accumulates that the generated loops execute (padding skipped, dead channels removed)
     * @param constantBytes bytes of its constants in read-only memory
     * @param workspaceBytes bytes of its scratch in the workspace
     */
    public record Cost(long macs, long executedMacs, long constantBytes, long workspaceBytes) {}

    /**
     * The schedule of an operator.
     *
     * @param schedule name of the schedule chosen, with its knobs
     * @param reason why it was chosen
     * @param codegen what generated the code
     */
    public record ChosenSchedule(String schedule, String reason, OperatorCodegen codegen) {
        /** A schedule of Kiln's own. */
        public ChosenSchedule(String schedule, String reason) {
            this(schedule, reason, OperatorCodegen.OWN);
        }
    }

    /**
     * What generated an operator's code.
     *
     * @param name the code generator, such as {@code c}
     * @param composite what it took the operator as, such as {@code cmsis-nn.qnn_conv2d}; empty for Kiln's own
     * @param stayed why no other code generator took it; empty if there is none, or if one did
     */
    public record OperatorCodegen(String name, String composite, String stayed) {
        /** Kiln's own C, which no other code generator was asked to replace. */
        public static final OperatorCodegen OWN = new OperatorCodegen("c", "", "");
    }
}
