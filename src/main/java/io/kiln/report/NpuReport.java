// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.report.Json.OrNull;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A model's work and memory on an NPU and on the core beside it, in {@code report.json}. Why an operator stays on the core is said with the operator.
 *
 * @param onNpu the parts that the NPU computes
 * @param onCore the operators between them; copies out of the NPU's memory are none
 * @param vela how Vela made the model in this build; null if it came so
 */
public record NpuReport(Share onNpu, Share onCore, @OrNull VelaRun vela) {

    private static final String CODEGEN = "ethos-u";
    private static final String COPY = "tfl.ethos_u_tensor";

    /**
     * What one of the two does.
     *
     * @param operators number of parts of the NPU, or of operators
     * @param macs multiply-accumulates of them
     * @param constantBytes weights, tables and command streams; parts of the NPU share theirs
     * @param memoryBytes the largest memory beside constants of one of them: scratch and fast scratch of the NPU, results and scratch of an operator
     */
    public record Share(int operators, long macs, long constantBytes, long memoryBytes) {}

    /**
     * The report of a model; empty if no part of it is the NPU's.
     *
     * @param run how Vela made it, if this build ran Vela
     */
    public static Optional<NpuReport> of(ModelMetadata model, Optional<VelaRun> run) {
        List<OperatorInfo> own =
                model.operators().stream().filter(NpuReport::isNpus).toList();
        return own.isEmpty()
                ? Optional.empty()
                : Optional.of(new NpuReport(share(own), share(onCore(model)), run.orElse(null)));
    }

    /** The operators of a model that the core computes. */
    public static List<OperatorInfo> onCore(ModelMetadata model) {
        return model.operators().stream()
                .filter(each -> !isNpus(each) && !each.op().equals(COPY))
                .toList();
    }

    private static boolean isNpus(OperatorInfo operator) {
        return operator.choice().codegen().name().equals(CODEGEN);
    }

    private static Share share(List<OperatorInfo> operators) {
        return new Share(
                operators.size(),
                operators.stream().mapToLong(OperatorInfo::macs).sum(),
                operators.stream().mapToLong(OperatorInfo::constantBytes).sum(),
                operators.stream().mapToLong(NpuReport::memory).max().orElse(0));
    }

    private static long memory(OperatorInfo operator) {
        return operator.workspaceBytes()
                + operator.outputs().stream().mapToLong(TensorInfo::bytes).sum();
    }

    /** The share of the model's work that the NPU does. */
    public String share() {
        long all = onNpu.macs + onCore.macs;
        return all == 0 ? "none of the MACs" : 100 * onNpu.macs / all + " % of the MACs";
    }

    /** The memory of both, and what Vela expects, as lines for people. */
    public List<String> lines(String model) {
        String memory = String.format(
                Locale.ROOT,
                "Model %s: the NPU's parts take %,d bytes of constants and %,d of memory, the core's operators %,d and"
                        + " %,d",
                model,
                onNpu.constantBytes,
                onNpu.memoryBytes,
                onCore.constantBytes,
                onCore.memoryBytes);
        return Optional.ofNullable(vela)
                .filter(run -> !run.estimates().isEmpty())
                .map(run -> List.of(
                        memory,
                        "Model " + model + ": estimated by Vela " + run.version() + ", not measured: "
                                + run.estimates()))
                .orElse(List.of(memory));
    }

    /**
     * A run of Vela, in {@code report.json}.
     *
     * @param version the version that it says it is
     * @param arguments what it was given after its name; files are named as in the folder where it ran
     * @param stayed the operators that it left on the core, and why, in its own words
     * @param estimates what it expects of the model, which nobody has measured: {@code cycles} and {@code milliseconds} of an inference,
     *     {@code sramKiB}, {@code dramKiB}, {@code onChipFlashKiB} and {@code offChipFlashKiB}; without what it did not say
     */
    public record VelaRun(
            String version, List<String> arguments, List<String> stayed, SortedMap<String, Double> estimates) {
        public VelaRun {
            arguments = List.copyOf(arguments);
            stayed = List.copyOf(stayed);
            estimates = Collections.unmodifiableSortedMap(new TreeMap<>(estimates));
        }
    }
}
