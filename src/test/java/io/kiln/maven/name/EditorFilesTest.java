// SPDX-License-Identifier: Apache-2.0
package io.kiln.maven.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.preprocess.Preprocessing;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.maven.plugin.descriptor.PluginDescriptor;
import org.apache.maven.plugin.descriptor.PluginDescriptorBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** What a new project brings for editors names goals, files and schemas that exist, and finds the mistakes that Kiln tells. */
class EditorFilesTest {
    private static final Path ARCHETYPE = Path.of("src", "main", "archetypes", "kiln-firmware");
    private static final Path FILES = ARCHETYPE.resolve("archetype-resources");
    private static final Path SCHEMAS = Path.of("toolchains", "schemas");

    /** Files that people write, by their schemas; the archetype's own are among them. */
    private static final Map<String, String> WRITTEN = Map.of(
            "board", "src/main/boards/left-glove/board.yaml",
            "test", "src/test/firmware/answers.yaml",
            "plan", "src/test/plan.yaml",
            "preprocess", "src/main/model/kws.preprocess.yaml",
            "samples", "src/main/samples/samples.yaml",
            "model", "src/main/model/model.yaml",
            "compiler", "src/main/toolchain/my.yaml");

    @TempDir
    private Path folder;

    private static JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(FILES.resolve(file).toFile());
    }

    private static Document xml(Path file) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
    }

    /** The pattern of each schema that Visual Studio Code is told. */
    private static Map<String, String> patterns() throws IOException {
        Map<String, String> patterns = new TreeMap<>();
        json(".vscode/settings.json")
                .get("yaml.schemas")
                .properties()
                .forEach(each -> patterns.put(
                        each.getKey().replaceFirst("^\\./", ""), each.getValue().asText()));
        return patterns;
    }

    @Test
    void everyKindOfYamlIsCompleted() throws Exception {
        Map<String, String> patterns = patterns();
        assertThat(patterns).hasSameSizeAs(WRITTEN);
        String packed = Files.readString(Path.of("src/main/archetypes/kiln-firmware.xml"));
        for (Map.Entry<String, String> each : WRITTEN.entrySet()) {
            String schema = each.getKey() + ".schema.json";
            assertThat(SCHEMAS.resolve(schema)).exists();
            assertThat(packed).contains("<include>" + schema + "</include>");
            String pattern = patterns.get(".kiln/schemas/" + schema);
            assertThat(FileSystems.getDefault()
                            .getPathMatcher("glob:" + pattern)
                            .matches(Path.of(each.getValue())))
                    .as(schema + " for " + pattern)
                    .isTrue();
        }
        assertThat(FILES.resolve(WRITTEN.get("test"))).exists();
    }

    /** A schema that a reader of YAML takes and editors do not know would be one that nobody completes. */
    @Test
    void everySchemaOfAReaderIsAmongThem() throws IOException {
        Pattern use = Pattern.compile("new YamlSchema\\(\"([a-z]+)\\.schema\\.json\"\\)");
        List<String> used = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".java")).toList()) {
                use.matcher(Files.readString(file)).results().forEach(found -> used.add(found.group(1)));
            }
        }
        used.remove("core");
        assertThat(WRITTEN.keySet()).containsExactlyInAnyOrderElementsOf(used);
    }

    @Test
    void intellijIsToldTheSameSchemas() throws Exception {
        NodeList options = xml(FILES.resolve(".idea/jsonSchemas.xml")).getElementsByTagName("SchemaInfo");
        Map<String, String> told = new TreeMap<>();
        for (int i = 0; i < options.getLength(); i++) {
            told.put(option(options.item(i), "relativePathToSchema"), option(options.item(i), "path"));
        }
        assertThat(told).isEqualTo(patterns());
    }

    private static String option(org.w3c.dom.Node node, String name) {
        NodeList options = ((Element) node).getElementsByTagName("option");
        for (int i = 0; i < options.getLength(); i++) {
            Element option = (Element) options.item(i);
            if (option.getAttribute("name").equals(name)) {
                return option.getAttribute("value");
            }
        }
        return "";
    }

    @Test
    void everyTaskAndRunConfigurationCallsAGoal() throws Exception {
        List<String> goals = new ArrayList<>();
        json(".vscode/tasks.json").get("tasks").forEach(task -> {
            assertThat(task.get("command").asText()).startsWith("mvn -B -ntp ");
            goals.add(task.get("command").asText().replaceFirst(".* ", ""));
        });
        try (Stream<Path> runs = Files.list(FILES.resolve(".run"))) {
            for (Path run : runs.toList()) {
                NodeList values =
                        ((Element) xml(run).getElementsByTagName("list").item(0)).getElementsByTagName("option");
                goals.add(((Element) values.item(0)).getAttribute("value"));
            }
        }
        assertThat(goals).hasSizeGreaterThan(6);
        PluginDescriptor plugin;
        try (Reader reader = Files.newBufferedReader(Path.of("target/classes/META-INF/maven/plugin.xml"))) {
            plugin = new PluginDescriptorBuilder().build(reader);
        }
        assertThat(goals)
                .allMatch(goal -> goal.equals("verify")
                        || (goal.startsWith("kiln:") && plugin.getMojo(goal.substring("kiln:".length())) != null));
    }

    @Test
    void theMatcherFindsWhatTheCompilerAndKilnSay() throws IOException {
        Path source = Files.createDirectories(folder.resolve("src/main/c")).resolve("main.c");
        Files.writeString(source, "int main(void) {\n  return missing;\n}\n");
        BuildSpec spec = new GestureProject(folder)
                .spec("mps2-an386")
                .verify(GestureProject.UNVERIFIED)
                .build();
        Flow flow = new Flow(Log.QUIET, TestToolchains.environment(Log.QUIET));
        flow.generate(spec);
        flow.assemble(spec);
        assertThat(spec.layout().firmware().resolve("compile_commands.json")).exists();
        KilnException failed = catchThrowableOfType(KilnException.class, () -> flow.compile(spec));
        assertThat(failed.getMessage().lines().flatMap(line -> matched(line).stream()))
                .anyMatch(found -> found.endsWith("src/main/c/main.c 2 10 error"));

        Path yaml = Files.writeString(folder.resolve("kws.preprocess.yaml"), "schema: 1\nsampelRate: 1\n");
        KilnException refused = catchThrowableOfType(KilnException.class, () -> Preprocessing.read(yaml));
        assertThat(refused.getMessage().lines().flatMap(line -> matched("[ERROR] " + line).stream()))
                .anyMatch(found -> found.matches(".*kws\\.preprocess\\.yaml 2 1 null"));
        Path board = Files.createDirectories(folder.resolve("boards/mine")).resolve("board.yaml");
        Files.writeString(board, "schema: 1\nid: mine\ntitle: Mine\nextends: nucleo-f446re\nbord: 1\n");
        KilnException unknown = catchThrowableOfType(
                KilnException.class,
                () -> Boards.builtIn().with(folder.resolve("boards")).find("mine"));
        assertThat(unknown.getMessage().lines().flatMap(line -> matched("[ERROR] " + line).stream()))
                .anyMatch(found -> found.matches(".*board\\.yaml 5 null null"));
    }

    private static Optional<String> matched(String line) {
        try {
            JsonNode pattern = json(".vscode/tasks.json").at("/problemMatcher/pattern");
            Matcher matcher = Pattern.compile(pattern.get("regexp").asText()).matcher(line);
            return matcher.find()
                    ? Optional.of(Stream.of("file", "line", "column", "severity")
                            .map(part -> matcher.group(pattern.get(part).asInt()))
                            .reduce((a, b) -> a + " " + b)
                            .orElseThrow())
                    : Optional.empty();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void editorsOfCFindTheCommands() throws IOException {
        Path firmware = new Layout(Path.of(""), Path.of("target"), "app").firmware();
        assertThat(json(".vscode/settings.json")
                        .get("C_Cpp.default.compileCommands")
                        .asText())
                .isEqualTo("${workspaceFolder}/" + firmware + "/compile_commands.json");
        assertThat(Files.readString(FILES.resolve(".clangd"))).contains("CompilationDatabase: " + firmware + "\n");
    }

    /** A file that the archetype's descriptor does not name reaches nobody. */
    @Test
    void everyFileGetsIntoTheProject() throws Exception {
        NodeList sets =
                xml(ARCHETYPE.resolve("META-INF/maven/archetype-metadata.xml")).getElementsByTagName("fileSet");
        try (Stream<Path> files = Files.walk(FILES)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path inside = FILES.relativize(file);
                boolean isNamed = inside.equals(Path.of("pom.xml"));
                for (int i = 0; i < sets.getLength(); i++) {
                    isNamed |= isIn((Element) sets.item(i), inside);
                }
                assertThat(isNamed).as("%s", inside).isTrue();
            }
        }
    }

    private static boolean isIn(Element set, Path file) {
        Path place = Path.of(set.getElementsByTagName("directory").item(0).getTextContent());
        String include = set.getElementsByTagName("include").item(0).getTextContent();
        boolean isThere = place.toString().isEmpty() ? file.getNameCount() == 1 : file.startsWith(place);
        NodeList includes = set.getElementsByTagName("include");
        for (int i = 0; isThere && i < includes.getLength(); i++) {
            String glob = includes.item(i).getTextContent().replace("**/", "");
            if (FileSystems.getDefault().getPathMatcher("glob:" + glob).matches(file.getFileName())) {
                return true;
            }
        }
        return include.isEmpty();
    }
}
