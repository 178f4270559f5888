// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.test;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import io.kiln.flow.test.ProgramScript.Exit;
import io.kiln.flow.test.ProgramScript.Expect;
import io.kiln.flow.test.ProgramScript.Send;
import io.kiln.flow.test.ProgramScript.Step;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads the tests of a folder: {@code *.yaml} files, described by {@code toolchains/schemas/test.schema.json}. */
final class ScriptReader {
    private static final String SUFFIX = ".yaml";
    private static final int USUAL_SECONDS = 10;

    private ScriptReader() {}

    /** Holds the schema, which is loaded only if there are tests. */
    private static final class Schema {
        static final YamlSchema OF_TESTS = new YamlSchema("test.schema.json");
    }

    /**
     * All tests of a folder, by name; none if it does not exist.
     *
     * @throws KilnException with every mistake in every file, each with its line and column
     */
    static List<ProgramScript> read(Path folder) {
        List<ProgramScript> scripts = new ArrayList<>();
        Problems problems = new Problems(Failure.TEST);
        for (Path file : files(folder)) {
            read(file, YamlDocument.content(file), problems).ifPresent(scripts::add);
        }
        problems.throwIfAny();
        return scripts;
    }

    private static List<Path> files(Path folder) {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> list = Files.list(folder)) {
            return list.filter(file -> file.toString().endsWith(SUFFIX) && Files.isRegularFile(file))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw FileFailure.of("cannot read", folder, e);
        }
    }

    private static Optional<ProgramScript> read(Path file, Bytes content, Problems problems) {
        try {
            YamlDocument document = YamlDocument.parse(file.toString(), content);
            Problems own = new Problems(Failure.TEST);
            Schema.OF_TESTS.checkExactly(document, own);
            own.list().forEach(problems::add);
            return own.isEmpty() ? Optional.of(script(file, document)) : Optional.empty();
        } catch (KilnException e) {
            e.problems().forEach(problems::add);
            return Optional.empty();
        }
    }

    private static ProgramScript script(Path file, YamlDocument document) {
        JsonNode root = document.root();
        List<Step> steps = new ArrayList<>();
        for (JsonNode step : root.path("steps")) {
            String where = document.exactly("/steps/" + steps.size());
            steps.add(
                    step.has("expect")
                            ? new Expect(step.path("expect").asText(), where)
                            : new Send(step.path("send").asText()));
        }
        String name = file.getFileName().toString();
        return new ProgramScript(
                name.substring(0, name.length() - SUFFIX.length()),
                Optional.ofNullable(root.path("board").textValue()),
                Duration.ofSeconds(root.path("timeout").asInt(USUAL_SECONDS)),
                steps,
                root.has("exit")
                        ? Optional.of(new Exit(root.path("exit").asInt(), document.exactly("/exit")))
                        : Optional.empty(),
                file.toString());
    }
}
