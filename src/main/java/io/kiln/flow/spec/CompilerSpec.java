// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.spec;

import io.kiln.base.ByteSize;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.base.TargetText;
import io.kiln.base.incremental.Fingerprint.NoInput;
import io.kiln.compile.CompileOptions;
import io.kiln.flow.spec.TuneSpec.RecordsSpec;
import io.kiln.frontend.relay.rule.Rules;
import io.kiln.partition.ExternalCodegen;
import io.kiln.partition.UserFunctions;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.Equalize;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.QuantizeOptions.QuantizeRequest;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.SampleReader.OtherSamples;
import io.kiln.tuning.fit.FitSearch.FitLimits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The settings by which models become C.
 *
 * @param options what the compiler takes as it is
 * @param codegens what generates code
 * @param memoryLimits the most bytes of a memory that the models may take, by the memory's name
 * @param quantize how float models are quantized first
 * @param records tuning records that choose schedules
 * @param dumpIr whether the IR is written after each pass
 * @param fit the memory that an image may take
 */
public record CompilerSpec(
        CompileOptions options,
        CodegenSpec codegens,
        SortedMap<String, Long> memoryLimits,
        QuantizeSpec quantize,
        RecordsSpec records,
        boolean dumpIr,
        FitSpec fit) {
    /** The usual way: the board's target and the defaults of the compiler. */
    public static final CompilerSpec DEFAULT = new CompilerSpec(
            CompileOptions.DEFAULT,
            CodegenSpec.BOARD,
            Collections.emptySortedMap(),
            QuantizeSpec.NONE,
            RecordsSpec.USUAL,
            false,
            FitSpec.NONE);

    public CompilerSpec {
        memoryLimits = Collections.unmodifiableSortedMap(new TreeMap<>(memoryLimits));
    }

    /**
     * Reads limits of memories.
     *
     * @param limits sizes such as {@code 96K} by name of the memory
     * @throws io.kiln.base.KilnException with every text that is not a size
     */
    public static SortedMap<String, Long> memoryLimits(Map<String, String> limits) {
        SortedMap<String, Long> bytes = new TreeMap<>();
        Problems problems = new Problems(Failure.CONFIG);
        limits.forEach((name, text) -> ByteSize.parse(text.strip())
                .ifPresentOrElse(
                        size -> bytes.put(name, size),
                        () -> problems.add(
                                "kiln.memory." + name + " is '" + text + "'",
                                "",
                                "bytes, or a number with K, M or G, such as 96K",
                                "Correct kiln.memory." + name)));
        problems.throwIfAny();
        return bytes;
    }

    public CompilerSpec with(CompileOptions other) {
        return new CompilerSpec(other, codegens, memoryLimits, quantize, records, dumpIr, fit);
    }

    public CompilerSpec with(RecordsSpec other) {
        return new CompilerSpec(options, codegens, memoryLimits, quantize, other, dumpIr, fit);
    }

    /**
     * What memory an image may take, and whether the fastest one within that is searched.
     *
     * @param isSought whether {@code kiln.optimize} is {@code fit}
     * @param limits {@code kiln.limit.flash} and {@code kiln.limit.ram}
     */
    public record FitSpec(boolean isSought, FitLimits limits) {
        /** Any memory that the board has, and no search. */
        public static final FitSpec NONE = new FitSpec(false, FitLimits.NONE);

        /** The value of {@code kiln.optimize} for which the fastest image is searched. */
        public static final String FIT = "fit";

        /**
         * Reads parameters.
         *
         * @param optimize value of {@code kiln.optimize}
         * @param flash value of {@code kiln.limit.flash}; empty if it is not set
         * @param ram value of {@code kiln.limit.ram}; empty if it is not set
         * @param problems receives values that are no sizes
         */
        public static FitSpec of(String optimize, Optional<String> flash, Optional<String> ram, Problems problems) {
            return new FitSpec(
                    isFit(optimize), new FitLimits(bytes("flash", flash, problems), bytes("ram", ram, problems)));
        }

        /**
         * The goal of a build, which is speed where the fastest that fits is searched.
         *
         * @throws KilnException for text that is no value of {@code kiln.optimize}, with the list of values
         */
        public static Optimize goal(String optimize) {
            if (isFit(optimize)) {
                return Optimize.SPEED;
            }
            List<String> goals =
                    Stream.of(Optimize.values()).map(Optimize::text).toList();
            if (!goals.contains(optimize)) {
                throw Failure.CONFIG.exception(
                        "kiln.optimize is '" + optimize + "'",
                        "",
                        "one of " + String.join(", ", goals) + ", " + FIT,
                        "Change kiln.optimize");
            }
            return Optimize.of(optimize);
        }

        private static boolean isFit(String optimize) {
            return optimize.strip().equals(FIT);
        }

        private static OptionalLong bytes(String memory, Optional<String> text, Problems problems) {
            if (text.isEmpty()) {
                return OptionalLong.empty();
            }
            OptionalLong bytes = ByteSize.parse(text.get().strip());
            if (bytes.isEmpty() || bytes.getAsLong() == 0) {
                problems.add(
                        "kiln.limit." + memory + " is '" + text.get() + "'",
                        "",
                        "bytes, or a number with K, M or G, such as 96K",
                        "Correct kiln.limit." + memory);
                return OptionalLong.empty();
            }
            return bytes;
        }
    }

    /**
     * The code generators of a build.
     *
     * @param target a target string, composite or not, or a kind alone, instead of the board's; empty for the board's
     * @param cmsisNn the folder of CMSIS-NN's sources, with {@code Include} and {@code Source}
     * @param externals C functions of the user that compute chains of operators
     * @param vela how Vela compiles the models for an NPU first; empty if it does not
     */
    public record CodegenSpec(
            Optional<String> target,
            Optional<Path> cmsisNn,
            List<UserFunctions.External> externals,
            Optional<VelaSpec> vela) {
        public static final CodegenSpec BOARD = new CodegenSpec(Optional.empty(), Optional.empty());

        public CodegenSpec {
            externals = List.copyOf(externals);
        }

        /** Code generators without C functions of the user. */
        public CodegenSpec(Optional<String> target, Optional<Path> cmsisNn) {
            this(target, cmsisNn, List.of());
        }

        /** Code generators without Vela. */
        public CodegenSpec(Optional<String> target, Optional<Path> cmsisNn, List<UserFunctions.External> externals) {
            this(target, cmsisNn, externals, Optional.empty());
        }

        public CodegenSpec with(Optional<VelaSpec> other) {
            return new CodegenSpec(target, cmsisNn, externals, other);
        }

        /** Where C of archives may find headers: the project's own sources, and CMSIS-NN's. */
        public List<Path> headerFolders(Path userSources) {
            return Stream.concat(Stream.of(userSources), cmsisNn.map(folder -> folder.resolve("Include")).stream())
                    .toList();
        }

        /**
         * Code generators that are made of this build's configuration.
         *
         * @throws io.kiln.base.KilnException with all errors of {@code externals}
         */
        public List<ExternalCodegen> own() {
            return externals.isEmpty() ? List.of() : List.of(UserFunctions.of(externals, Rules.names()));
        }

        /** The kind of the host's target, if the target states nothing else. */
        public Optional<String> kind() {
            return target.map(String::strip).filter(TargetText.HOST_KINDS::contains);
        }

        /**
         * How Vela, a program of the user's, compiles models for an NPU before Kiln compiles what it leaves.
         *
         * @param configuration the NPU, such as {@code ethos-u55-128}
         * @param program name or path of Vela
         * @param version the only version that may run; empty for any
         */
        public record VelaSpec(
                String configuration,

                @NoInput(because = "its version and the file that it makes are inputs themselves")
                String program,

                @NoInput(because = "the version that ran is an input itself")
                Optional<String> version) {
            /** Its name on the PATH. */
            public static final String PROGRAM = "vela";
        }
    }

    /**
     * How float models are quantized before they are compiled.
     *
     * @param options how
     * @param samples folder or file of samples; with several models a folder that holds one for each, named like the model
     * @param labels their labels
     */
    public record QuantizeSpec(QuantizeOptions options, Optional<Path> samples, Optional<Path> labels) {
        /** Models stay as they are. */
        public static final QuantizeSpec NONE =
                new QuantizeSpec(QuantizeOptions.NONE, Optional.empty(), Optional.empty());

        /**
         * Reads the parameters.
         *
         * @param mode {@code kiln.quantize}
         * @param method {@code .method}
         * @param equalize {@code .equalize}
         * @param io {@code .io}
         * @param keepFloat {@code .keepFloat}, separated by commas
         * @param limits {@code .maxAccuracyLoss} and {@code .minSqnr}
         * @throws io.kiln.base.KilnException with all values that are not allowed
         */
        public static QuantizeOptions options(
                String mode,
                String method,
                String equalize,
                String io,
                String keepFloat,
                QuantizeOptions.Limits limits) {
            Problems problems = new Problems(Failure.CONFIG);
            Optional<QuantizeMode> modeValue =
                    problems.read(() -> ParameterValue.of("kiln.quantize", QuantizeMode.class, mode));
            Optional<RangeMethod> methodValue =
                    problems.read(() -> ParameterValue.of("kiln.quantize.method", RangeMethod.class, method));
            Optional<Equalize> equalizeValue =
                    problems.read(() -> ParameterValue.of("kiln.quantize.equalize", Equalize.class, equalize));
            Optional<Border> border = problems.read(() -> ParameterValue.of("kiln.quantize.io", Border.class, io));
            Stream.of(limits.maxAccuracyLoss(), limits.minSqnr())
                    .flatMap(Optional::stream)
                    .filter(limit -> !Double.isFinite(limit))
                    .forEach(limit -> problems.add("a limit of kiln.quantize is " + limit, "", "a number"));
            problems.throwIfAny();
            List<String> names = Stream.of(keepFloat.split(",", -1))
                    .map(String::strip)
                    .filter(name -> !name.isEmpty())
                    .toList();
            return new QuantizeOptions(
                    modeValue.orElseThrow(),
                    methodValue.orElseThrow(),
                    equalizeValue.orElseThrow(),
                    names,
                    border.equals(Optional.of(Border.FLOAT)),
                    limits);
        }

        /** The values of {@code kiln.quantize.io}. */
        private enum Border {
            /** The integers of the quantized model: int8, or int16 for int16x8. */
            INT8,
            FLOAT
        }

        public boolean isActive() {
            return options.isActive();
        }

        /**
         * The request for a model.
         *
         * @param model its name, if the build has several models; empty for the only one
         * @param others reads pictures and recordings
         */
        public QuantizeRequest request(Optional<String> model, OtherSamples others, Runs.Progress progress) {
            return new QuantizeRequest(
                    options,
                    folder(samples, model),
                    labels.map(file -> folder(Optional.of(file), model)),
                    others,
                    progress);
        }

        private static Path folder(Optional<Path> path, Optional<String> model) {
            Path all = path.orElse(Path.of(""));
            return model.map(all::resolve).orElse(all);
        }

        /** Checks that the samples are there. */
        public void check(Problems problems, Problems missing) {
            if (!isActive()) {
                return;
            }
            if (samples.isEmpty()) {
                problems.add(
                        "kiln.quantize is " + options.mode().text() + ", and no samples are given",
                        "",
                        "kiln.quantize.samples: a folder of input_0.bin and so on, of pictures or of recordings, or a file"
                                + " .npy or .npz",
                        "Set kiln.quantize.samples to 100 to 500 typical inputs");
            }
            samples.filter(path -> !Files.exists(path))
                    .ifPresent(path -> missing.add(
                            "the samples do not exist",
                            path.toString(),
                            "a folder or a file",
                            "Correct kiln.quantize.samples"));
            labels.filter(path -> !Files.exists(path))
                    .ifPresent(path -> missing.add(
                            "the labels do not exist", path.toString(), "a file", "Correct kiln.quantize.labels"));
        }
    }
}
