// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.plan;

import com.fasterxml.jackson.databind.JsonNode;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.NearMiss;
import io.kiln.base.Problems;
import io.kiln.farm.desk.Labels;
import io.kiln.flow.plan.TestPlan.Match;
import io.kiln.flow.plan.TestPlan.Run;
import io.kiln.flow.spec.BuildSpec.GivenInputs;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.toolchain.yaml.YamlDocument;
import io.kiln.toolchain.yaml.YamlSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Reads a test plan. */
final class PlanReader {
    private final YamlDocument document;
    private final Path project;
    private final List<ModelSource> ofBuild;
    private final Problems problems = new Problems(Failure.TEST);

    /** Holds the schema, which is loaded only if there is a plan. */
    private static final class Schema {
        static final YamlSchema OF_PLANS = new YamlSchema("plan.schema.json");
    }

    private PlanReader(YamlDocument document, Path project, List<ModelSource> ofBuild) {
        this.document = document;
        this.project = project;
        this.ofBuild = ofBuild;
    }

    /**
     * Reads a plan.
     *
     * @param project the folder that names of files are relative to
     * @param ofBuild models of the build, for a plan without some of its own
     * @throws KilnException with every mistake, each with its line and column
     */
    static TestPlan read(Path file, Path project, List<ModelSource> ofBuild) {
        return parse(file.toString(), YamlDocument.content(file), project, ofBuild);
    }

    static TestPlan parse(String name, Bytes content, Path project, List<ModelSource> ofBuild) {
        PlanReader reader = new PlanReader(YamlDocument.parse(name, content), project, ofBuild);
        Schema.OF_PLANS.checkExactly(reader.document, reader.problems);
        reader.problems.throwIfAny();
        TestPlan plan = reader.plan();
        reader.problems.throwIfAny();
        return plan;
    }

    private TestPlan plan() {
        JsonNode root = document.root();
        List<ModelSource> models = new ArrayList<>();
        root.path("models").properties().forEach(each -> models.add(model(each.getKey(), each.getValue())));
        List<String> names = (models.isEmpty() ? ofBuild : models)
                .stream().map(ModelSource::name).toList();
        List<Run> runs = new ArrayList<>();
        for (int i = 0; i < root.path("runs").size(); i++) {
            runs.add(run(root.path("runs").path(i), "/runs/" + i, names));
        }
        return new TestPlan(root.path("title").asText("Test plan"), models, runs);
    }

    private ModelSource model(String name, JsonNode node) {
        String pointer = "/models/" + name;
        Path file = project.resolve(node.path("file").asText());
        if (!Files.isRegularFile(file)) {
            problem("no such model: " + file, pointer + "/file", "a file, named from " + project, "");
        }
        Optional<Path> vectors = Optional.ofNullable(node.get("vectors")).map(text -> project.resolve(text.asText()));
        vectors.filter(folder -> !Files.isDirectory(folder))
                .ifPresent(folder -> problem(
                        "no such folder of vectors: " + folder,
                        pointer + "/vectors",
                        "a folder, named from " + project,
                        ""));
        return new ModelSource(file, name, GivenInputs.NONE, "", Optional.empty(), vectors);
    }

    private Run run(JsonNode node, String pointer, List<String> names) {
        List<String> models = texts(node.path("models"));
        for (int i = 0; i < models.size(); i++) {
            String pattern = models.get(i);
            if (names.stream().noneMatch(name -> Labels.matches(name, pattern))) {
                problem(
                        "no model `" + pattern + "`",
                        pointer + "/models/" + i,
                        "one of " + String.join(", ", names),
                        NearMiss.didYouMean(pattern, names));
            }
        }
        Labels needs = problems.read(() -> Labels.parse(
                        document.exactly(pointer + "/needs"), node.path("needs").asText("")))
                .orElse(Labels.NONE);
        return new Run(
                document.exactly(pointer),
                models.isEmpty() ? List.of("*") : models,
                texts(node.path("boards")),
                VerifyOn.of(node.path("on").asText("emulator")),
                needs,
                Match.valueOf(node.path("match").asText("every").toUpperCase(Locale.ROOT)),
                node.path("missing").asText("fail").equals("skip"));
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(each -> texts.add(each.asText()));
        return texts;
    }

    private void problem(String what, String pointer, String expected, String next) {
        problems.add(what, document.exactly(pointer), expected, next);
    }
}
