// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import io.kiln.artifact.LinkPlan;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.RamCopies;
import io.kiln.artifact.OperatorInfo;
import io.kiln.cycles.core.CycleRange;
import io.kiln.report.CycleReport.BoardCycles;
import io.kiln.report.Json.OrEmpty;
import io.kiln.report.Json.OrNull;
import io.kiln.report.NpuReport.VelaRun;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Content of {@code report.json}: what was built and its memory use. All sizes are in bytes.
 *
 * @param application what runs on the image: {@code console}, {@code rpc}, {@code mlperf-tiny} or {@link #OWN_APPLICATION}
 * @param model file name of the model; several are joined by {@code ", "}
 * @param name module name; several are joined likewise
 * @param board id of the board
 * @param toolchain id of the toolchain and its version
 * @param target target string, printed canonically
 * @param calls how programs call the model, the first one if there are several
 * @param flash what lies in read-only memory
 * @param ram what lies in writable memory
 * @param stack the stack, and how deep it went
 * @param memories use of each memory of the board; empty for this computer
 * @param macs multiply-accumulates of the models' definition
 * @param executedMacs those that the generated loops execute
 * @param operators in execution order
 * @param plan the plan of the workspace
 * @param linkPlan what the build did with the artifacts of the models
 * @param models which of the operators and buffers are whose
 * @param preprocessing the signal processing before models; empty if there is none
 * @param aot what the same models take with the AOT executor; null until {@code kiln:profile} has compared
 * @param estimate cycles and time of one inference; null until {@code kiln:profile} has estimated them
 */
public record BuildReport(
        String application,
        String model,
        String name,
        String board,
        String toolchain,
        String target,
        Calls calls,
        Flash flash,
        Ram ram,
        Stack stack,
        List<MemoryUse> memories,
        long macs,
        long executedMacs,
        List<Operator> operators,
        ModelMetadata.Plan plan,
        List<LinkPlan.Group> linkPlan,
        List<ModelPart> models,
        ImageReport image,

        @OrEmpty List<PreprocessingReport> preprocessing,

        @OrNull ProfileReport.Aot aot,

        @OrNull CycleReport estimate) {
    /** The application of an image that runs the project's own program. */
    public static final String OWN_APPLICATION = "own";

    public BuildReport {
        memories = List.copyOf(memories);
        operators = List.copyOf(operators);
        linkPlan = List.copyOf(linkPlan);
        models = List.copyOf(models);
        preprocessing = preprocessing == null ? List.of() : List.copyOf(preprocessing);
    }

    /**
     * Use of a memory of the board.
     *
     * @param name the board's name for it
     * @param used bytes, alignment included
     * @param available its size
     * @param targets keys of the targets that reach it; empty if all do
     */
    public record MemoryUse(
            String name, long used, long available, @OrEmpty List<String> targets) {

        public MemoryUse {
            targets = List.copyOf(targets);
        }

        /** Use of a memory that every target reaches. */
        public MemoryUse(String name, long used, long available) {
            this(name, used, available, List.of());
        }
    }

    /**
     * The stack of the image.
     *
     * @param used the deepest use that was measured, of all runs of the image in an emulator, and of those of {@code kiln:test} on a board; more
     *     than available if it overflowed; null if there was none
     * @param available its size; 0 for this computer, which has no limit
     */
    public record Stack(@OrNull Long used, long available) {

        public Stack with(long other) {
            return new Stack(used == null ? other : Math.max(used, other), available);
        }
    }

    public BuildReport with(Stack newStack) {
        return changed(newStack, operators, preprocessing, aot, estimate);
    }

    /** A copy with the instruction counts of a profile. */
    public BuildReport profiled(ProfileReport profile) {
        return changed(
                stack,
                operators.stream().map(o -> o.profiled(profile)).toList(),
                preprocessing.stream().map(each -> each.profiled(profile)).toList(),
                profile.aot(),
                profile.estimate());
    }

    private BuildReport changed(
            Stack newStack,
            List<Operator> newOperators,
            List<PreprocessingReport> newPreprocessing,
            ProfileReport.Aot newAot,
            CycleReport newEstimate) {
        return new BuildReport(
                application,
                model,
                name,
                board,
                toolchain,
                target,
                calls,
                flash,
                ram,
                newStack,
                memories,
                macs,
                executedMacs,
                newOperators,
                plan,
                linkPlan,
                models,
                image,
                newPreprocessing,
                newAot,
                newEstimate);
    }

    /**
     * How programs call a model; each as the parameter of its name.
     *
     * @param interfaceApi {@code c} or {@code packed}
     * @param unpackedApi whether operators take pointers
     * @param systemLib whether packed functions are listed
     * @param disableAssert whether packed functions leave out the checks of their arguments
     */
    public record Calls(String interfaceApi, boolean unpackedApi, boolean systemLib, boolean disableAssert) {}

    /**
     * Read-only memory of the image.
     *
     * @param text code and everything not counted elsewhere
     * @param constants weights, biases and tables of the models
     * @param data initial values of writable data
     * @param total the sum
     * @param available size of the board's memory; 0 for this computer, which has no limit
     */
    public record Flash(long text, long constants, long data, long total, long available) {}

    /**
     * Writable memory of the image.
     *
     * @param data initialised data
     * @param bss zeroed data, without workspace and io
     * @param state variables that models keep between runs; included in {@code bss}
     * @param workspace the planned workspaces
     * @param io the application's buffers of inputs and outputs
     * @param stack the reserved stack, with its guard
     * @param total the sum
     * @param available size of the board's memory; 0 for this computer, which has no limit
     */
    public record Ram(
            long data, long bss, long state, long workspace, long io, long stack, long total, long available) {}

    /**
     * One lowered operator.
     *
     * @param name its C function
     * @param layers the model's own operators fused into it, as the model names them
     * @param op names of the fused operators
     * @param inputs tensors that it reads, without constants
     * @param outputs tensors that it writes
     * @param macs multiply-accumulates by the model's definition
     * @param executedMacs multiply-accumulates that the generated loops execute
     * @param instructions instructions of one inference; null if the image was not profiled
     * @param microseconds of one call on the board; null if no board measured it
     * @param estimatedCycles of one inference, without wait states; null if they were not estimated
     * @param boardCycles of one inference, with the waits of the board's memories; null if they were not estimated
     * @param constantBytes bytes of its constants
     * @param workspaceBytes bytes of its scratch
     * @param schedule the schedule chosen
     * @param reason why the schedule was chosen
     * @param codegen the code generator, such as {@code c}
     * @param composite what another code generator took it as; empty for Kiln's own
     * @param stayed why no other code generator took it; empty if there is none, or if one did
     */
    public record Operator(
            String name,
            List<String> layers,
            String op,
            List<ReportedTensor> inputs,
            List<ReportedTensor> outputs,
            long macs,
            long executedMacs,
            @JsonSetter(nulls = Nulls.SET) Long instructions,

            @OrNull Double microseconds,

            @OrNull CycleRange estimatedCycles,

            @OrNull BoardCycles boardCycles,

            long constantBytes,
            long workspaceBytes,
            String schedule,
            String reason,
            String codegen,
            String composite,
            String stayed) {
        public Operator {
            layers = List.copyOf(layers);
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
        }

        static Operator of(OperatorInfo info) {
            return new Operator(
                    info.name(),
                    info.layers(),
                    info.op(),
                    info.inputs().stream().map(ReportedTensor::of).toList(),
                    info.outputs().stream().map(ReportedTensor::of).toList(),
                    info.macs(),
                    info.executedMacs(),
                    null,
                    null,
                    null,
                    null,
                    info.constantBytes(),
                    info.workspaceBytes(),
                    info.schedule(),
                    info.reason(),
                    info.choice().codegen().name(),
                    info.choice().codegen().composite(),
                    info.choice().codegen().stayed());
        }

        private Operator profiled(ProfileReport profile) {
            return profile.operators().stream()
                    .filter(o -> o.name().equals(name))
                    .findFirst()
                    .map(o -> new Operator(
                            name,
                            layers,
                            op,
                            inputs,
                            outputs,
                            macs,
                            executedMacs,
                            o.instructions(),
                            o.microseconds(),
                            o.estimatedCycles(),
                            o.boardCycles(),
                            constantBytes,
                            workspaceBytes,
                            schedule,
                            reason,
                            codegen,
                            composite,
                            stayed))
                    .orElse(this);
        }
    }

    /** The operators of all models, in order. */
    public static List<Operator> operators(List<ModelMetadata> models) {
        return models.stream()
                .flatMap(m -> m.operators().stream())
                .map(Operator::of)
                .toList();
    }

    /** The plans of all models combined: each has its own workspace, so sizes add up, and offsets are relative to the model's own. */
    public static ModelMetadata.Plan plan(List<ModelMetadata> models) {
        List<ModelMetadata.Plan> plans =
                models.stream().map(ModelMetadata::plan).toList();
        return new ModelMetadata.Plan(
                String.join(
                        ", ",
                        plans.stream()
                                .map(ModelMetadata.Plan::algorithm)
                                .distinct()
                                .toList()),
                plans.stream().mapToLong(ModelMetadata.Plan::bytes).sum(),
                plans.stream().mapToLong(ModelMetadata.Plan::lowerBound).sum(),
                plans.stream().flatMap(plan -> plan.buffers().stream()).toList());
    }

    /**
     * What is in an image, in {@code report.json}.
     *
     * @param sections that occupy memory, by address; one that the program copies at its start is there twice
     * @param largest functions and variables that take most, largest first
     * @param licences of the sources that were compiled
     */
    public record ImageReport(List<Section> sections, List<Symbol> largest, List<Licence> licences) {
        public ImageReport {
            sections = List.copyOf(sections);
            largest = List.copyOf(largest);
            licences = List.copyOf(licences);
        }

        /**
         * A section.
         *
         * @param memory the board's name of the memory that it lies in; empty for this computer
         * @param address of its first byte
         * @param bytes its size
         */
        public record Section(String name, String memory, long address, long bytes) {}

        /**
         * A function or variable.
         *
         * @param isWritable whether it lies in RAM while the image runs
         */
        public record Symbol(String name, long bytes, boolean isWritable) {}

        /**
         * A licence of sources in a folder of the C project.
         *
         * @param part the folder, such as {@code crt}
         * @param licence its SPDX identifier; empty if the files state none
         * @param files how many files
         */
        public record Licence(String part, String licence, int files) {}
    }

    /**
     * What the signal processing before a model takes, in {@code report.json}. All sizes are in bytes.
     *
     * @param model its name in C
     * @param rows rows of features that are one input of the model
     * @param features of a row
     * @param codeBytes of its object file, before the linker drops functions that nothing calls; null for this computer
     * @param tableBytes its constant tables in flash
     * @param stateBytes its state in RAM, which the program owns
     * @param rowInstructions of one row; null if they were not counted
     * @param instructions of all rows of one input; null if they were not counted
     */
    public record PreprocessingReport(
            String model,
            int rows,
            int features,

            @OrNull Long codeBytes,

            long tableBytes,
            long stateBytes,

            @OrNull Long rowInstructions,

            @OrNull Long instructions) {
        /** A copy with the instructions that a profile counted. */
        PreprocessingReport profiled(ProfileReport profile) {
            return profile.preprocessing().stream()
                    .filter(counted -> counted.model().equals(model))
                    .findFirst()
                    .map(counted -> new PreprocessingReport(
                            model,
                            rows,
                            features,
                            codeBytes,
                            tableBytes,
                            stateBytes,
                            counted.rowInstructions(),
                            counted.instructions()))
                    .orElse(this);
        }
    }

    /**
     * A model of an image, in {@code report.json}.
     *
     * @param name its name in C
     * @param operators how many of the report's operators are its own; they follow those of the models before it
     * @param buffers likewise of the plan's buffers
     * @param ramCopies what of it is copied to RAM when the program starts; null if nothing is, and nothing would be gained
     * @param npu its work and memory on an NPU; null if no part of it is an NPU's
     */
    public record ModelPart(
            String name,
            int operators,
            int buffers,

            @OrNull RamCopies ramCopies,

            @OrNull NpuReport npu) {
        /** The parts of a report of these models, in order. */
        public static List<ModelPart> of(List<ModelMetadata> models) {
            return of(models, Map.of());
        }

        /**
         * The parts of a report of these models, in order.
         *
         * @param runs how Vela made models in this build, by their names
         */
        public static List<ModelPart> of(List<ModelMetadata> models, Map<String, VelaRun> runs) {
            return models.stream()
                    .map(model -> new ModelPart(
                            model.name(),
                            model.operators().size(),
                            model.plan().buffers().size(),
                            model.memory().copies().equals(RamCopies.NONE)
                                    ? null
                                    : model.memory().copies(),
                            NpuReport.of(model, Optional.ofNullable(runs.get(model.name())))
                                    .orElse(null)))
                    .toList();
        }
    }

    /**
     * A tensor in {@code report.json}.
     *
     * @param scale of its quantization; null if it is not quantized, or has a scale for each channel
     * @param zeroPoint likewise
     * @param labels what its values, or its elements along the last dimension, stand for; absent if unknown
     */
    public record ReportedTensor(
            String name,
            String dtype,
            List<Integer> shape,

            @OrNull Float scale,

            @OrNull Integer zeroPoint,

            @OrEmpty List<String> labels) {
        public ReportedTensor {
            labels = labels == null ? List.of() : List.copyOf(labels);
            shape = List.copyOf(shape);
        }

        public static ReportedTensor of(ModelMetadata.TensorInfo info) {
            boolean isQuantized = info.scale() != 0;
            return new ReportedTensor(
                    info.name(),
                    info.dtype().text(),
                    info.shape(),
                    isQuantized ? info.scale() : null,
                    isQuantized ? info.zeroPoint() : null,
                    info.labels());
        }
    }
}
