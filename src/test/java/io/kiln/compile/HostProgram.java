// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.KeptPrograms;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Generated C, or objects, as a program of this machine, built with every warning as an error, AddressSanitizer and
 * UndefinedBehaviorSanitizer: it reads the inputs of all models from a file and writes their outputs to another.
 *
 * <p>Compiling takes most of the time, not running. So the program is one unit, is not optimised, and stops without a
 * message at what the sanitizers find; only then it is built and run once more, with messages. {@code
 * -Dkiln.host.flags=-O1} gives other flags.
 */
public final class HostProgram {
    private static final List<String> FLAGS = List.of(
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Wshadow",
            "-Werror",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all");

    /** A quarter of the time that {@code -O1} takes: the checks are the same, but are calls and end in a trap. */
    private static final String QUICK =
            "-O0 -fsanitize-undefined-trap-on-error --param=asan-instrumentation-with-call-threshold=0";

    private static final String WITH_MESSAGES = "-O0 -g";

    private final Path folder;
    private final List<String> objects;

    private HostProgram(Path folder, List<String> objects) {
        this.folder = folder;
        this.objects = objects;
    }

    /** Builds the program. */
    public static HostProgram build(Path folder, List<ModelMetadata> models, List<List<Artifact>> artifacts) {
        StringBuilder unit = new StringBuilder();
        List<String> objects = new ArrayList<>();
        for (int i = 0; i < artifacts.size(); i++) {
            unit.append(OneUnit.of(folder, "m" + i, artifacts.get(i)));
            for (Artifact file : artifacts.get(i)) {
                if (file.kind() == ArtifactKind.OBJECT) {
                    WholeFiles.write(
                            folder.resolve(file.fileName()), file.content().toArray());
                    objects.add(file.fileName());
                }
            }
        }
        WholeFiles.write(folder.resolve("main.c"), unit + main(models));
        HostProgram program = new HostProgram(folder, objects);
        program.compile(System.getProperty("kiln.host.flags", QUICK));
        return program;
    }

    private void compile(String flags) {
        List<String> line = new ArrayList<>(FLAGS);
        line.addAll(List.of(flags.split(" ")));
        line.addAll(List.of("main.c", "-o", "program"));
        line.addAll(objects);
        line.add("-lm");
        ProcessResult result =
                KeptPrograms.make(folder, "program", Command.of("cc", line).within(Duration.ofMinutes(10)));
        assertThat(result.exitCode()).as(result.message()).isZero();
    }

    /** Runs all models on the concatenation of their inputs, again while there are inputs left, variables kept; gives outputs likewise. */
    public Bytes run(List<Bytes> inputs) {
        try {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            inputs.forEach(i -> all.writeBytes(i.toArray()));
            WholeFiles.write(folder.resolve("in.bin"), all.toByteArray());
            ProcessResult result = start();
            assertThat(result.exitCode()).as(() -> withMessages().message()).isZero();
            return Bytes.wrap(Files.readAllBytes(folder.resolve("out.bin")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ProcessResult withMessages() {
        compile(WITH_MESSAGES);
        return start();
    }

    private ProcessResult start() {
        return ProcessRunner.run(
                Command.of("./program", List.of("in.bin", "out.bin")).in(folder).within(Duration.ofMinutes(10)));
    }

    private static String main(List<ModelMetadata> models) {
        StringBuilder text = new StringBuilder("#include <stdio.h>\n#include <stdlib.h>\n");
        models.forEach(m -> text.append("#include \"tvmgen_").append(m.name()).append(".h\"\n"));
        models.forEach(m -> text.append(m.io() == Io.CALLER ? caller(m) : workspace(m)));
        text.append("int main(int argc, char** argv) {\n  FILE* in = fopen(argv[1], \"rb\");\n")
                .append("  FILE* out = fopen(argv[2], \"wb\");\n  if (argc != 3 || !in || !out) return 2;\n")
                .append("  int next;\n  do {\n");
        models.forEach(m -> text.append("    run_" + m.name() + "(in, out);\n"));
        return text.append("    next = fgetc(in);\n  } while (next != EOF && ungetc(next, in) != EOF);\n")
                .append("  fclose(in);\n  return fclose(out);\n}\n")
                .toString();
    }

    private static String caller(ModelMetadata model) {
        String p = "tvmgen_" + model.name();
        StringBuilder text = new StringBuilder("static void run_" + model.name() + "(FILE* in, FILE* out) {\n");
        for (TensorInfo t : model.inputs()) {
            text.append("  void* i_" + t.cName() + " = malloc(" + t.bytes() + ");\n");
            text.append("  if (fread(i_" + t.cName() + ", 1, " + t.bytes() + ", in) != " + t.bytes() + ") exit(3);\n");
        }
        for (TensorInfo t : model.outputs()) {
            text.append("  void* o_" + t.cName() + " = malloc(" + t.bytes() + ");\n");
        }
        text.append("  struct " + p + "_inputs inputs = {");
        model.inputs().forEach(t -> text.append("." + t.cName() + " = i_" + t.cName() + ", "));
        text.append("};\n  struct " + p + "_outputs outputs = {");
        model.outputs().forEach(t -> text.append("." + t.cName() + " = o_" + t.cName() + ", "));
        text.append("};\n  if (" + p + "_run(&inputs, &outputs) != 0) exit(4);\n");
        model.outputs().forEach(t -> text.append("  fwrite(o_" + t.cName() + ", 1, " + t.bytes() + ", out);\n"));
        model.inputs().forEach(t -> text.append("  free(i_" + t.cName() + ");\n"));
        model.outputs().forEach(t -> text.append("  free(o_" + t.cName() + ");\n"));
        return text.append("}\n").toString();
    }

    private static String workspace(ModelMetadata model) {
        String p = "tvmgen_" + model.name();
        String size = p.toUpperCase(Locale.ROOT) + "_GLOBAL_WORKSPACE_WORKSPACE_POOL_SIZE";
        StringBuilder text = new StringBuilder("static void run_" + model.name() + "(FILE* in, FILE* out) {\n");
        text.append("  struct " + p + "_workspace_pools pools = {malloc(" + size + ")};\n");
        text.append("  struct " + p + "_inputs inputs = " + p + "_map_inputs(&pools);\n");
        text.append("  struct " + p + "_outputs outputs = " + p + "_map_outputs(&pools);\n");
        model.inputs()
                .forEach(t -> text.append("  if (fread(inputs." + t.cName() + ", 1, " + t.bytes() + ", in) != "
                        + t.bytes() + ") exit(3);\n"));
        text.append("  if (" + p + "_run(&pools) != 0) exit(4);\n");
        model.outputs().forEach(t -> text.append("  fwrite(outputs." + t.cName() + ", 1, " + t.bytes() + ", out);\n"));
        return text.append("  free(pools.global_workspace);\n}\n").toString();
    }
}
