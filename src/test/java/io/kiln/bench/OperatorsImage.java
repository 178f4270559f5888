// SPDX-License-Identifier: Apache-2.0
package io.kiln.bench;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.compile.OneUnit;
import io.kiln.device.emulator.Emulator.QemuLine;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.board.Board;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.board.Emulation;
import io.kiln.toolchain.compiler.SourceKind;
import io.kiln.toolchain.compiler.TargetOptions;
import io.kiln.toolchain.compiler.Toolchain;
import io.kiln.toolchain.compiler.Toolchains;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Many small models in one image, each run once in QEMU by the bench program. */
final class OperatorsImage {
    private OperatorsImage() {}

    /**
     * Compiles, links and runs models.
     *
     * @param folder for all files
     * @param board built-in board that QEMU emulates
     * @param toolchain what compiles
     * @param models compiled with inputs and outputs of the caller
     * @param inputs of all models in order
     * @return outputs of all models, one after another
     */
    static Bytes run(
            Path folder,
            String board,
            String toolchain,
            Optimize optimize,
            List<ModelLibrary> models,
            List<Bytes> inputs) {
        return run(folder, board, Boards.builtIn().find(board).target(), toolchain, optimize, models, inputs);
    }

    /**
     * The same for a core whose code the board's core also runs.
     *
     * @param target string of the core that the models are compiled for
     */
    static Bytes run(
            Path folder,
            String boardName,
            String target,
            String toolchain,
            Optimize optimize,
            List<ModelLibrary> models,
            List<Bytes> inputs) {
        Board board = Boards.builtIn().find(boardName);
        build(
                folder,
                board,
                Toolchains.resolve(toolchain, TargetOptions.parse(target), BenchImage.environment()),
                optimize,
                models);
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        inputs.forEach(i -> all.writeBytes(i.toArray()));
        WholeFiles.write(folder.resolve("input.bin"), all.toByteArray());
        Emulation.Qemu qemu = (Emulation.Qemu) board.emulation();
        List<String> line = QemuLine.of(qemu, "bench.elf")
                .withoutConsole()
                .semihosting(true)
                .words();
        ProcessResult result = ProcessRunner.run(Command.ofLine(line).in(folder).within(Duration.ofMinutes(2)));
        if (!result.succeeded()) {
            throw new IllegalStateException(String.join(" ", line) + ": " + result.message());
        }
        try {
            return Bytes.wrap(Files.readAllBytes(folder.resolve("output.bin")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void build(
            Path folder, Board board, Toolchain toolchain, Optimize optimize, List<ModelLibrary> models) {
        BenchImage.Compiler compiler = new BenchImage.Compiler(folder, toolchain, optimize);
        compiler.shims();
        StringBuilder unit = new StringBuilder();
        for (ModelLibrary model : models) {
            unit.append(OneUnit.of(
                    folder, model.metadata().name(), model.artifacts().artifacts()));
        }
        WholeFiles.write(folder.resolve("models.c"), unit.toString());
        List<String> objects = new ArrayList<>();
        objects.add(compiler.compile("models.c", SourceKind.OWN));
        WholeFiles.write(folder.resolve("bench_model.h"), header(models));
        BenchImage.copy("bench.c", folder);
        BenchImage.copy("bench.ld", folder);
        objects.add(compiler.compile("bench.c", SourceKind.FREESTANDING));
        objects.addAll(compiler.compileShims());
        compiler.link(objects, BenchImage.memories(board));
    }

    private static String header(List<ModelLibrary> models) {
        StringBuilder head = new StringBuilder("#define BENCH_CASES 1\n");
        StringBuilder map = new StringBuilder();
        StringBuilder run = new StringBuilder();
        int ins = 0;
        int outs = 0;
        for (ModelLibrary model : models) {
            ModelMetadata m = model.metadata();
            String p = "tvmgen_" + m.name();
            head.append("#include \"" + p + ".h\"\n");
            head.append("static struct " + p + "_inputs in_" + m.name() + ";\n");
            head.append("static struct " + p + "_outputs out_" + m.name() + ";\n");
            for (TensorInfo t : m.inputs()) {
                tensor(head, map, "in", m.name(), t, "bench_inputs[" + ins++ + "]");
            }
            for (TensorInfo t : m.outputs()) {
                tensor(head, map, "out", m.name(), t, "bench_outputs[" + outs++ + "]");
            }
            run.append("  code |= " + p + "_run(&in_" + m.name() + ", &out_" + m.name() + ");\n");
        }
        return head + "typedef struct {\n  void* bytes;\n  uint32_t size;\n} bench_tensor;\n"
                + "static bench_tensor bench_inputs[" + ins + "];\nstatic bench_tensor bench_outputs[" + outs + "];\n"
                + "static void bench_map(void) {\n" + map + "}\nstatic int32_t bench_run(void) {\n  int32_t code = 0;\n"
                + run + "  return code;\n}\n#define BENCH_RUN bench_run()\n";
    }

    /** A buffer, and where the program finds it. */
    private static void tensor(
            StringBuilder head, StringBuilder map, String kind, String model, TensorInfo tensor, String entry) {
        String buffer = kind + "_" + model + "_" + tensor.cName();
        head.append("static uint8_t " + buffer + "[" + tensor.bytes() + "] __attribute__((aligned(16)));\n");
        map.append("  " + kind + "_" + model + "." + tensor.cName() + " = " + buffer + ";\n");
        map.append("  " + entry + " = (bench_tensor){" + buffer + ", " + tensor.bytes() + "};\n");
    }
}
