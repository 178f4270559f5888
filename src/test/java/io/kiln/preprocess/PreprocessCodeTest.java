// SPDX-License-Identifier: Apache-2.0
package io.kiln.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.WholeFiles;
import io.kiln.preprocess.RandomPipelines.Drawn;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The generated C gives what the interpreter gives, bit for bit, for pipelines and recordings of every kind. */
class PreprocessCodeTest {
    private static final int PIPELINES = Integer.getInteger("kiln.pipelines", 14);
    private static final long SEED = Long.getLong("kiln.seed", 7);

    private static final List<String> FLAGS = List.of(
            "-std=c11",
            "-O0",
            "-Wall",
            "-Wextra",
            "-Wconversion",
            "-Wshadow",
            "-Werror",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "-fsanitize-undefined-trap-on-error",
            "--param=asan-instrumentation-with-call-threshold=0");

    @TempDir
    private Path folder;

    @Test
    void cAndInterpreterAgreeBitForBit() throws IOException {
        RandomPipelines pipelines = new RandomPipelines(SEED);
        List<Drawn> drawn =
                IntStream.range(0, PIPELINES).mapToObj(i -> pipelines.next()).toList();
        compile(drawn);
        ByteArrayOutputStream in = new ByteArrayOutputStream();
        List<Bytes> expected = new ArrayList<>();
        for (int i = 0; i < drawn.size(); i++) {
            PreprocessPlan plan = drawn.get(i).plan();
            for (short[] audio : recordings(plan, i)) {
                in.write(i);
                in.writeBytes(Recording.bytes(audio).toArray());
                expected.add(new FeatureInterpreter(plan).input(audio));
            }
        }
        Files.write(folder.resolve("in.bin"), in.toByteArray());

        ProcessResult result = run("./program", List.of());

        assertThat(result.exitCode()).as(result.message()).isZero();
        byte[] answers = Files.readAllBytes(folder.resolve("out.bin"));
        int at = 0;
        for (int i = 0; i < expected.size(); i++) {
            byte[] wanted = expected.get(i).toArray();
            byte[] answer = Arrays.copyOfRange(answers, at, at + wanted.length);
            Drawn pipeline = drawn.get(i / (expected.size() / drawn.size()));
            assertThat(answer).as("recording " + i + " of\n" + pipeline.yaml()).isEqualTo(wanted);
            at += wanted.length;
        }
        assertThat(at).isEqualTo(answers.length);
    }

    private static List<short[]> recordings(PreprocessPlan plan, int seed) {
        List<short[]> all = new ArrayList<>(AudioSamples.extremes(plan.samples(), seed));
        all.add(AudioSamples.voice(plan.samples(), plan.pipeline().sampleRate(), seed));
        return all;
    }

    private void compile(List<Drawn> drawn) {
        List<String> line = new ArrayList<>(FLAGS);
        StringBuilder main = new StringBuilder("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n");
        StringBuilder cases = new StringBuilder();
        for (int i = 0; i < drawn.size(); i++) {
            InterfaceNames names = new InterfaceNames("p" + i);
            for (Artifact file : new PreprocessCode(drawn.get(i).plan(), names, "p.preprocess.yaml").files()) {
                WholeFiles.write(folder.resolve(file.fileName()), file.content().toArray());
                if (file.kind() == ArtifactKind.SOURCE) {
                    line.add(file.fileName());
                }
            }
            String type = drawn.get(i).input().dtype().cName();
            main.append("#include \"" + names.preprocessHeader() + "\"\n");
            main.append(listener(names, type));
            cases.append("      case " + i + ":\n        hear" + i + "(in, out);\n        break;\n");
        }
        main.append(
                        "int main(void) {\n  FILE* in = fopen(\"in.bin\", \"rb\");\n  FILE* out = fopen(\"out.bin\", \"wb\");\n")
                .append("  int which;\n  while ((which = fgetc(in)) != EOF) {\n    switch (which) {\n" + cases)
                .append("      default:\n        return 4;\n    }\n  }\n  fclose(in);\n  return fclose(out);\n}\n");
        WholeFiles.write(folder.resolve("main.c"), main.toString());
        line.addAll(List.of("main.c", "-o", "program"));
        ProcessResult result = run("cc", line);
        assertThat(result.exitCode()).as(result.message()).isZero();
    }

    /** Computes the whole recording, and the same in blocks of changing sizes; both have to be equal. */
    private static String listener(InterfaceNames names, String type) {
        return """
                static void hear@(FILE* in, FILE* out) {
                  struct P* state = malloc(sizeof *state);
                  int16_t* samples = malloc(M_SAMPLES * 2);
                  T* whole = malloc(M_FRAMES * M_FEATURES * sizeof(T));
                  T* rows = malloc(M_FRAMES * M_FEATURES * sizeof(T));
                  memset(state, 0xa5, sizeof *state);
                  if (fread(samples, 2, M_SAMPLES, in) != M_SAMPLES) exit(3);
                  P_run(state, samples, whole);
                  uint32_t frames = 0;
                  uint32_t block = 1;
                  P_init(state);
                  for (uint32_t at = 0; at < M_SAMPLES;) {
                    uint32_t left = M_SAMPLES - at < block ? M_SAMPLES - at : block;
                    at += P_feed(state, samples + at, left);
                    frames += (uint32_t)P_next(state, rows + frames * M_FEATURES);
                    block = block % 97 + 13;
                  }
                  if (frames != M_FRAMES || memcmp(whole, rows, M_FRAMES * M_FEATURES * sizeof(T)) != 0) exit(5);
                  fwrite(whole, sizeof(T), M_FRAMES * M_FEATURES, out);
                  free(state);
                  free(samples);
                  free(whole);
                  free(rows);
                }
                """.replaceAll("\\bP(?=\\b|_)", names.preprocess())
                .replaceAll("\\bM_", names.macro("preprocess") + "_")
                .replaceAll("\\bT\\b", type)
                .replace("@", names.model().substring(1));
    }

    private ProcessResult run(String program, List<String> arguments) {
        return ProcessRunner.run(Command.of(program, arguments).in(folder).within(Duration.ofMinutes(2)));
    }
}
