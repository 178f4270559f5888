// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.group;

import io.kiln.base.Problems;
import io.kiln.compile.CompileOptions.RamOptions;
import io.kiln.compile.ReadOptions;
import io.kiln.firmware.UserCode.CodeFlags;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec.VelaSpec;
import io.kiln.flow.spec.CompilerSpec.FitSpec;
import io.kiln.target.SpareRam.RamShare;
import io.kiln.toolchain.compiler.Toolchains.Libc;
import java.io.File;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** How models are read, fused and archived: {@code <onnx>}, {@code <tflite>}, {@code <fuse>} and {@code <mlf>}; and {@code <code>}. */
public final class CompilationGroups {
    private static final Element MAX_DEPTH = Element.of(
            "maxDepth",
            "256",
            "The largest number of IR operators in a fused group; 1 fuses nothing. Results do not change.");
    private static final Element ROUNDING = Element.of(
            "rounding",
            "micro",
            "Whose answers the image of a TensorFlow Lite model gives where the two libraries round differently: micro"
                    + " for TensorFlow Lite Micro's, lite for those of TensorFlow Lite's reference kernels.");
    private static final Element SIGNATURE = Element.of(
                    "signature",
                    "The signature of a TensorFlow Lite model that is built, by its key, in place of the first"
                            + " subgraph; several, with commas between, become models NAME_KEY of one image.")
            .single();
    private static final Element NPU = Element.of(
                    "npu",
                    "The NPU, such as ethos-u55-128, for which Vela, a program of yours, compiles the models first; if"
                            + " not set, Vela does not run.")
            .single();
    private static final Element VELA = Element.of("vela", VelaSpec.PROGRAM, "Vela: a name on the PATH, or a path.")
            .single()
            .alone("npu.vela");
    private static final Element VELA_VERSION = Element.of(
                    "velaVersion", "The only version of Vela that may run, such as 3.10.0; if not set, any.")
            .single()
            .alone("npu.velaVersion");
    private static final Element IO = Element.of(
            "io",
            "model",
            "Layout of the images that an ONNX model takes and gives: model for the model's own (channels before the"
                    + " spatial dimensions), nhwc for channels last, which saves the transposes at the border.");
    private static final Element DATA = Element.of(
            "data",
            "Folder of an ONNX model's external data, and of folders below it; if not set, only files directly beside"
                    + " the model are read.");
    private static final Element SLIM = Element.of(
            "slim",
            "false",
            "Whether the archive's Relay text and parameters omit the constants' data; the C has it in any case. A"
                    + " slim archive cannot be compiled again from its text.");

    private static final Element RAM_CODE = Element.of(
            "code",
            "auto",
            "What of the models' code is copied to RAM at the start: auto for the kernels that save most, where the"
                    + " board's flash makes the core wait for them and it has RAM from which code runs faster; none, all,"
                    + " or the most bytes, such as 4K.");
    private static final Element RAM_WEIGHTS = Element.of(
            "weights",
            "auto",
            "What of the models' weights and tables is copied to RAM at the start: auto for those that save most where"
                    + " the board's flash makes the core wait, in RAM that it has to spare; none, all, or the most bytes,"
                    + " such as 16K.");

    /** {@code <fuse>}: how operators are fused. */
    public static final ParameterGroup FUSE = new ParameterGroup("fuse", MAX_DEPTH);

    /** {@code <tflite>}: how models of TensorFlow Lite are read. */
    public static final ParameterGroup TFLITE =
            new ParameterGroup("tflite", ROUNDING, SIGNATURE, NPU, VELA, VELA_VERSION);

    /** {@code <onnx>}: how ONNX models are read. */
    public static final ParameterGroup ONNX = new ParameterGroup("onnx", IO, DATA);

    /** {@code <mlf>}: what the archive in Model Library Format holds. */
    public static final ParameterGroup MLF = new ParameterGroup("mlf", SLIM);

    /** {@code <ram>}: what is copied to RAM when a program starts. */
    public static final ParameterGroup RAM = new ParameterGroup("ram", RAM_CODE, RAM_WEIGHTS);

    private static final Element LIBC = Element.of(
                    "libc",
                    "none",
                    "The C library of the project's own code: none, or nano for the small one of the GNU toolchain,"
                            + " newlib-nano or picolibc, whose printf and malloc use the board's console and memory.")
            .single();
    private static final Element DEBUG = Element.of(
                    "debug",
                    "false",
                    "Whether the project's own code is compiled for a debugger, with -Og -g3 in place of -O2; the"
                            + " models' code stays as it is.")
            .single();

    /** {@code <code>}: how the project's own code is compiled. */
    public static final ParameterGroup CODE = new ParameterGroup("code", LIBC, DEBUG);

    private static final Element LIMIT_MODEL = Element.of(
            "model",
            "The most bytes of a model file, such as 64M; if not set, a limit that follows the board's memories.");
    private static final Element LIMIT_FLASH =
            Element.of("flash", "The most flash of an image, such as 96K; if not set, the board's.");
    private static final Element LIMIT_RAM =
            Element.of("ram", "The most RAM of an image, its stack included, such as 32K; if not set, the board's.");

    /** {@code <limit>}: the most bytes of images and model files. */
    public static final ParameterGroup LIMIT = new ParameterGroup("limit", LIMIT_MODEL, LIMIT_FLASH, LIMIT_RAM);

    private CompilationGroups() {}

    /**
     * The memory that an image may take.
     *
     * @param optimize value of {@code kiln.optimize}
     * @param malformed receives texts that cannot be parsed
     */
    public static FitSpec fit(String optimize, GroupValues limit, Problems malformed) {
        return FitSpec.of(optimize, limit.find(LIMIT_FLASH), limit.find(LIMIT_RAM), malformed);
    }

    /** The largest number of IR operators in a fused group. */
    public static int maxDepth(GroupValues fuse) {
        return fuse.small(MAX_DEPTH);
    }

    /** The signatures that are built, by their keys with commas between; empty for the first subgraph. */
    public static String signature(GroupValues tflite) {
        return tflite.find(SIGNATURE).orElse("");
    }

    /**
     * How Vela compiles the models first; empty if it does not run.
     *
     * @param folder the project's, to which a path of Vela's is relative
     */
    public static Optional<VelaSpec> vela(GroupValues tflite, Path folder) {
        String program = tflite.text(VELA).strip();
        boolean isPath = program.contains("/") || program.contains(File.separator);
        return tflite.find(NPU)
                .map(npu -> new VelaSpec(
                        npu.strip(),
                        isPath ? folder.resolve(program).toString() : program,
                        tflite.find(VELA_VERSION).map(String::strip)));
    }

    /**
     * How model files are read.
     *
     * @param limit the most bytes of a file, if it is set
     */
    public static ReadOptions reading(GroupValues onnx, GroupValues tflite, GroupValues limit) {
        return ReadOptions.parse(onnx.text(IO), tflite.text(ROUNDING), limit.find(LIMIT_MODEL), onnx.file(DATA));
    }

    /**
     * What is copied to RAM when a program starts.
     *
     * @param malformed receives texts that cannot be parsed
     */
    public static RamOptions ram(GroupValues ram, Problems malformed) {
        return new RamOptions(share(RAM_CODE, ram, malformed), share(RAM_WEIGHTS, ram, malformed));
    }

    /**
     * How the project's own code is compiled.
     *
     * @param defines its macros
     * @param arguments further arguments of the compiler
     * @param malformed receives texts that cannot be parsed
     */
    public static CodeFlags code(List<String> defines, List<String> arguments, GroupValues code, Problems malformed) {
        return new CodeFlags(
                defines,
                arguments,
                malformed.read(() -> Libc.of(code.text(LIBC))).orElse(Libc.NONE),
                code.flag(DEBUG));
    }

    private static RamShare share(Element element, GroupValues ram, Problems malformed) {
        return malformed
                .read(() -> RamShare.of("kiln.ram." + element.name(), ram.text(element)))
                .orElse(RamShare.AUTO);
    }

    /** Whether the archive omits the constants' data. */
    public static boolean isSlim(GroupValues mlf) {
        return mlf.flag(SLIM);
    }
}
