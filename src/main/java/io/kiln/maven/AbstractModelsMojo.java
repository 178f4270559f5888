// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven;

import io.kiln.artifact.Convention;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Optimize;
import io.kiln.base.Problems;
import io.kiln.compile.CallOptions;
import io.kiln.compile.CompileOptions;
import io.kiln.compile.ReadOptions;
import io.kiln.firmware.app.Application;
import io.kiln.flow.diff.DiffStep;
import io.kiln.flow.resolve.CmsisNnArtifact;
import io.kiln.flow.spec.BudgetSpec;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CodegenSpec;
import io.kiln.flow.spec.CompilerSpec;
import io.kiln.flow.spec.PassConfig;
import io.kiln.flow.spec.QuantizeSpec;
import io.kiln.flow.spec.RecordsSpec;
import io.kiln.flow.spec.VerifyOn;
import io.kiln.flow.spec.VerifyOver;
import io.kiln.maven.bean.CustomOperatorBean;
import io.kiln.maven.bean.ExternalBean;
import io.kiln.maven.bean.Fuse;
import io.kiln.maven.bean.Quantize;
import io.kiln.maven.bean.Tflite;
import io.kiln.maven.bean.Verify;
import io.kiln.maven.session.Budgets;
import io.kiln.maven.session.GivenWords;
import io.kiln.maven.session.MojoLog;
import io.kiln.maven.session.NamedProperties;
import io.kiln.quantize.QuantizeOptions.Limits;
import io.kiln.transform.PassOptions;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import org.apache.maven.plugins.annotations.Parameter;

/** The parameters that say what code the models of an image become, where it lies, and how its answers are verified. */
abstract class AbstractModelsMojo extends AbstractFarmMojo {
    /**
     * How programs call a model: {@code c}, a header with structs of typed members, or {@code packed}, microTVM's packed functions. If not
     * set, {@code packed} with {@code kiln.application} {@code rpc}, else {@code c}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.interfaceApi")
    private String interfaceApi;

    /**
     * Whether operators take pointers; if not, operators are packed functions, too, which needs {@code kiln.interfaceApi} {@code packed}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.unpackedApi", defaultValue = "true")
    private boolean unpackedApi;

    /**
     * Whether packed functions are listed in a system library, where the C runtime finds them by their names. If not set, they are listed
     * with {@code kiln.interfaceApi} {@code packed}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.systemLib")
    private Boolean systemLib;

    /**
     * Whether packed functions leave out the checks of their arguments.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.disableAssert", defaultValue = "false")
    private boolean disableAssert;

    /**
     * What calls a model's operators in order: {@code aot}, a C function generated ahead of time; {@code graph}, an executor of the C
     * runtime that walks a graph; or {@code none}: nothing calls them, and each operator is found by its name.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.executor", defaultValue = "aot")
    private String executor;

    /**
     * Whether constants lie in the C. If not, they are parameters in a file of their own, which {@code kiln.executor} {@code graph} loads.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.linkParams", defaultValue = "true")
    private boolean linkParams;

    private CallOptions calls(Problems malformed, Io io, Application application) {
        String usual = (application == Application.RPC ? Convention.PACKED : Convention.TYPED).interfaceApi();
        String api = interfaceApi == null ? usual : interfaceApi;
        CallOptions calls = malformed
                .read(() -> CallOptions.of(api, unpackedApi, Optional.ofNullable(systemLib), disableAssert))
                .orElse(CallOptions.TYPED)
                .with(io);
        return malformed
                .read(() -> ExecutorKind.of(executor))
                .map(kind -> calls.with(kind, linkParams))
                .orElse(calls);
    }

    /**
     * The target of the models' code instead of the board's, for the same core: {@code llvm} for objects that the bundled clang makes, {@code
     * c} for C; alone, with the options of the board's target, or as a whole target string such as {@code llvm -mcpu=cortex-m4}. With other
     * code generators before the host's it is a composite, such as {@code cmsis-nn -mcpu=cortex-m55, c -mcpu=cortex-m55}: they take operators
     * in this order, and the host gets the rest.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.target")
    private String target;

    /**
     * CMSIS-NN's sources, for targets that name {@code cmsis-nn}: a folder with {@code Include} and {@code Source}, or a Maven artifact that
     * contains them, {@code group:artifact:version[:extension[:classifier]]}, whose extension is {@code zip} (the default), {@code jar} or {@code
     * tar.gz}. Only what models call is compiled.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.cmsisNn")
    private String cmsisNn;

    /**
     * C functions that compute chains of operators, each with the elements {@code name}, {@code operators}, {@code function}, {@code header}
     * and {@code constants}. They take operators before the code generators of {@code kiln.target}.
     *
     * @since 0.1.0
     */
    @Parameter
    private List<ExternalBean> externals;

    /**
     * The most bytes of a board's memory that the models may take, by the memory's name: elements such as {@code sram} with sizes
     * such as {@code 96K}, or the property {@code kiln.memory.sram}. Only memories that the board names as pools have limits.
     *
     * @since 0.1.0
     */
    @Parameter
    private Map<String, String> memory;

    /**
     * Settings by the names of TVM's {@code PassContext}, such as {@code relay.FuseOps.max_depth=1}, separated by commas. What they stand for
     * wins over Kiln's own parameters; unknown ones, and those that Kiln cannot follow, are refused.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.passConfig")
    private List<String> passConfig;

    /**
     * How operators are fused, by the element {@code maxDepth}; if it is not set, the property {@code
     * kiln.fuse.maxDepth} applies.
     *
     * @since 0.1.0
     */
    @Parameter
    private Fuse fuse;

    /**
     * The largest number of IR operators in a fused group; 1 fuses nothing. Results do not change.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.fuse.maxDepth", defaultValue = "256")
    private int fuseMaxDepth;

    /**
     * Whether micro-kernels take their C twins on the target in place of assembly and vendor intrinsics. The image is larger and slower, and
     * answers the same; if it does not, a kernel is wrong.
     */
    @Parameter(property = "kiln.portable", defaultValue = "false")
    private boolean portable;

    /**
     * Names of passes to skip. Results do not change; a pass that cannot be skipped is refused.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.disabledPasses")
    private List<String> disabledPasses;

    /**
     * C functions that compute operators outside TensorFlow Lite's own set, each with the elements {@code code}, {@code
     * function}, {@code header}, {@code shape}, {@code quantization}, {@code options} and {@code reference}; in
     * addition to those of the property {@code kiln.customOperators}.
     *
     * @since 0.1.0
     */
    @Parameter
    private List<CustomOperatorBean> customOperators;

    /**
     * Custom operators in one line: {@code
     * MyOp:my_op:my_op.h:input0:quantization,options:src/test/c/my_op.c;Other:other}; all but code and function are
     * optional.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.customOperators")
    private String customOperatorsText;

    /**
     * Writes the IR after each pass to {@code kiln/ir/NN-PASS.relay} in the output folder, and the loops to {@code 07-lower.tir}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.dumpIr", defaultValue = "false")
    private boolean dumpIr;

    /**
     * Layout of the images that an ONNX model takes and gives: {@code model} for the model's own (channels before the
     * spatial dimensions), {@code nhwc} for channels last, which saves the transposes at the border.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.onnx.io", defaultValue = "model")
    private String onnxIo;

    /**
     * How models of TensorFlow Lite are read, by the element {@code rounding}; if it is not set, the property {@code
     * kiln.tflite.rounding} applies.
     *
     * @since 0.1.0
     */
    @Parameter
    private Tflite tflite;

    /**
     * Whose answers the image of a TensorFlow Lite model gives where the two libraries round differently: {@code micro} for TensorFlow Lite
     * Micro's, {@code lite} for those of TensorFlow Lite's reference kernels.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.tflite.rounding", defaultValue = "micro")
    private String tfliteRounding;

    /**
     * Folder of an ONNX model's external data, and of folders below it; if not set, only files directly beside the model are read.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.onnx.data")
    private File onnxData;

    /**
     * The most bytes of a model file, such as {@code 64M}. If not set, four times the memories of the board or a quarter of the heap, whatever is
     * less, and at least the format's usual limit.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.limit.model")
    private String limitModel;

    /**
     * Signal processing before the model: a YAML file that says how audio becomes the model's input. If not set, {@code
     * MODEL.preprocess.yaml} beside the model, if there is one. Of several models each has its own: the element {@code preprocess} of its
     * {@code model}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.preprocess")
    private File preprocess;

    /**
     * The models in a version, with what {@code kiln.preprocess} puts before them.
     *
     * @param version empty if there is none
     */
    final List<ModelSource> preprocessed(List<ModelSource> sources, String version) {
        if (preprocess != null && sources.size() > 1) {
            throw new KilnException(Failure.CONFIG.problem(
                    "both kiln.preprocess and several models are given",
                    preprocess.toString(),
                    "<preprocess> inside a <model>",
                    "Remove kiln.preprocess"));
        }
        Optional<Path> described = Optional.ofNullable(preprocess).map(File::toPath);
        return sources.stream().map(source -> source.in(version, described)).toList();
    }

    /**
     * The limits of the build.
     *
     * @param budget the element {@code budget}, null if it is not set
     */
    final BudgetSpec budgets(Map<String, String> budget) {
        return Budgets.of(new NamedProperties(session(), project()).of(Budgets.PREFIX, budget), fetcher());
    }

    /** Counts what budgets are about, and checks them all. */
    final void checkBudgets(BuildSpec spec, BudgetSpec budgets) {
        if (budgets.needsProfile()) {
            flow().profile(spec);
        }
        new DiffStep(new MojoLog(getLog()), spec.layout()).check(budgets);
    }

    /**
     * The compiler's options.
     *
     * @param malformed gets what cannot be parsed
     */
    final CompileOptions options(Problems malformed, Optimize optimize, Io io, Application application) {
        CallOptions calls = calls(malformed, io, application);
        return malformed
                .read(() -> PassConfig.parse(passConfig == null ? List.of() : passConfig))
                .orElse(PassConfig.NONE)
                .over(new CompileOptions(optimize, calls, passes(), reading(), portable));
    }

    private PassOptions passes() {
        Integer depth = fuse == null ? null : fuse.maxDepth();
        return new PassOptions(depth == null ? fuseMaxDepth : depth, Set.copyOf(GivenWords.of(disabledPasses)));
    }

    private ReadOptions reading() {
        String rounding = tflite == null ? null : tflite.rounding();
        return ReadOptions.parse(
                        onnxIo,
                        rounding == null ? tfliteRounding : rounding,
                        Optional.ofNullable(limitModel),
                        Optional.ofNullable(onnxData).map(File::toPath))
                .with(
                        customOperators == null
                                ? List.of()
                                : customOperators.stream()
                                        .map(CustomOperatorBean::function)
                                        .toList(),
                        customOperatorsText == null ? "" : customOperatorsText);
    }

    /** How models become C. */
    final CompilerSpec compiler(CompileOptions options, QuantizeSpec quantized, RecordsSpec records) {
        SortedMap<String, Long> limits =
                CompilerSpec.memoryLimits(new NamedProperties(session(), project()).of("kiln.memory.", memory));
        return new CompilerSpec(options, codegens(), limits, quantized, records, dumpIr);
    }

    private CodegenSpec codegens() {
        return new CodegenSpec(
                Optional.ofNullable(target),
                Optional.ofNullable(cmsisNn).map(text -> CmsisNnArtifact.folder(text, folder(), environment())),
                externals == null
                        ? List.of()
                        : externals.stream().map(ExternalBean::external).toList());
    }

    /**
     * How float models are quantized, by the elements {@code mode}, {@code samples}, {@code labels}, {@code method}, {@code equalize},
     * {@code keepFloat}, {@code io}, {@code maxAccuracyLoss}, {@code minSqnr}; the properties {@code kiln.quantize} (for {@code mode}) and {@code
     * kiln.quantize.*} apply to those not set.
     *
     * @since 0.1.0
     */
    @Parameter
    private Quantize quantize;

    /**
     * What a float model is turned into before it is compiled: {@code none}, {@code int8}, {@code int16x8} (activations of 16 bits), or
     * {@code auto}: int8, with int16 or float for the layers that need it to keep the limits.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize", defaultValue = "none")
    private String quantizeMode;

    /**
     * Typical inputs of the float model, 100 to 500: a folder of {@code input_K.bin} (all inputs of sample K in model order,
     * concatenated, raw little-endian), a file {@code .npy}, or a file {@code .npz} with an array for each input. With several models, a
     * folder that holds one of these for each, named like the model.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.samples")
    private File quantizeSamples;

    /**
     * Labels of the samples: lines {@code sample,label} with the number of the sample and the index of its class. If not set, {@code
     * labels.csv} in the folder of the samples, if that exists.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.labels")
    private File quantizeLabels;

    /**
     * How the range of a value is chosen: {@code minmax} (the extremes), {@code percentile} (without the outermost 0.01 % on either
     * side), {@code kl} (least divergence of the distribution) or {@code mse} (least mean square error).
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.method", defaultValue = "minmax")
    private String quantizeMethod;

    /**
     * Whether channels are equalized across layers before the ranges are chosen: {@code auto} (if that at least halves the noise of
     * layers), {@code always}, or {@code never}. It changes no float result.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.equalize", defaultValue = "auto")
    private String quantizeEqualize;

    /**
     * Names of layers that stay float, separated by commas; {@code *} stands for any characters. The report {@code quantized.json} lists
     * the names.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.keepFloat", defaultValue = "")
    private String quantizeKeepFloat;

    /**
     * What the quantized model's inputs and outputs are: {@code int8} (int16 for {@code int16x8}) with scales of the model, or {@code float}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.io", defaultValue = "int8")
    private String quantizeIo;

    /**
     * The build fails if the quantized model loses more accuracy on the labelled samples than this, in percentage points.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.maxAccuracyLoss")
    private Double quantizeMaxAccuracyLoss;

    /**
     * The build fails if an output of the quantized model has a smaller signal-to-quantization-noise ratio than this, in dB.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.quantize.minSqnr")
    private Double quantizeMinSqnr;

    /**
     * How float models are quantized.
     *
     * @param malformed gets what cannot be parsed
     * @param samples that come with the model; the user's take their place
     * @param labels likewise; used with these samples only
     */
    final QuantizeSpec quantization(Problems malformed, Optional<Path> samples, Optional<Path> labels) {
        Quantize bean = quantize == null ? new Quantize() : quantize;
        List<String> kept = bean.keepFloat();
        Optional<Path> given = path(bean.samples(), quantizeSamples);
        Limits limits = new Limits(
                Optional.ofNullable(bean.maxAccuracyLoss()).or(() -> Optional.ofNullable(quantizeMaxAccuracyLoss)),
                Optional.ofNullable(bean.minSqnr()).or(() -> Optional.ofNullable(quantizeMinSqnr)));
        return malformed
                .read(() -> QuantizeSpec.options(
                        first(bean.mode(), quantizeMode, "none"),
                        first(bean.method(), quantizeMethod, "minmax"),
                        first(bean.equalize(), quantizeEqualize, "auto"),
                        first(bean.io(), quantizeIo, "int8"),
                        first(kept == null ? null : String.join(",", kept), quantizeKeepFloat, ""),
                        limits))
                .map(options -> new QuantizeSpec(
                        options,
                        given.or(() -> samples),
                        path(bean.labels(), quantizeLabels).or(() -> given.isPresent() ? Optional.empty() : labels)))
                .orElse(QuantizeSpec.NONE);
    }

    private static String first(String bean, String property, String otherwise) {
        return Optional.ofNullable(bean).or(() -> Optional.ofNullable(property)).orElse(otherwise);
    }

    private static Optional<Path> path(File bean, File property) {
        return Optional.ofNullable(bean).or(() -> Optional.ofNullable(property)).map(File::toPath);
    }

    /**
     * How the image is verified, by the elements {@code on}, {@code vectors}, {@code samples}, {@code seed},
     * {@code program}, {@code over}; the properties {@code kiln.verify.*} apply to those not set.
     *
     * @since 0.1.0
     */
    @Parameter
    private Verify verify;

    /**
     * Where the image is verified: {@code emulator}, {@code board} (flashed first, unless {@code kiln.flash.skip} is set) or
     * {@code none}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.on", defaultValue = "emulator")
    private String verifyOn;

    /**
     * A folder of {@code input_K.bin} and optional {@code output_K.bin}: all inputs (outputs) of case K in model order,
     * concatenated, raw little-endian. With several models, one such folder for each, named like the model. A model without such a folder has
     * the vectors of its artifact, if it comes from one.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.vectors")
    private File verifyVectors;

    /**
     * Number of random cases in addition to the vectors.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.samples", defaultValue = "2")
    private int verifySamples;

    /**
     * Seed of the random cases.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.seed", defaultValue = "0")
    private long verifySeed;

    /**
     * Emulated seconds for which the project's own program, if {@code src/main/c} has a {@code main}, runs in the emulator: a
     * fault, a stack that overflows, a call of {@code TVMPlatformAbort}, a failed {@code StackMemoryManager_Init} or an exit code other than 0
     * fails the verification. 0 skips this.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.program", defaultValue = "2")
    private int verifyProgram;

    /**
     * What the image is talked to by: {@code console}, the protocol of the default application, or {@code rpc}, microTVM's, for an
     * image with {@code kiln.application=rpc}.
     *
     * @since 0.1.0
     */
    @Parameter(property = "kiln.verify.over", defaultValue = "console")
    private String verifyOver;

    /**
     * How the image is verified.
     *
     * @param malformed gets what cannot be parsed
     */
    final VerifySpec verification(Problems malformed) {
        Verify bean = verify == null ? new Verify() : verify;
        File vectors = bean.vectors() == null ? verifyVectors : bean.vectors();
        return new VerifySpec(
                malformed
                        .read(() -> VerifyOn.of(bean.on() == null ? verifyOn : bean.on()))
                        .orElse(VerifyOn.EMULATOR),
                Optional.ofNullable(vectors).map(File::toPath),
                bean.samples() == null ? verifySamples : bean.samples(),
                bean.seed() == null ? verifySeed : bean.seed(),
                Duration.ofSeconds(bean.program() == null ? verifyProgram : bean.program()),
                malformed
                        .read(() -> VerifyOver.of(bean.over() == null ? verifyOver : bean.over()))
                        .orElse(VerifyOver.CONSOLE));
    }
}
