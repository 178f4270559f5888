// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.kiln.flow.export.SourceExport.SourceForm;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * The published rules of build systems for a library's folder, as far as they can be checked without the build systems: Arduino's library
 * specification, PlatformIO's {@code library.json}, Zephyr's {@code module.yml} and {@code sample.yaml}, ESP-IDF's component manifest and build
 * files, and the order of elements of {@code PACK.xsd}. Arduino's are those of arduino-lint with its names of rules: LS for the folder, LP
 * for {@code library.properties}, as for a library that is submitted to the Library Manager.
 */
final class FormRules {
    private static final Pattern SEMANTIC_VERSION = Pattern.compile("[0-9]+\\.[0-9]+\\.[0-9]+");
    private static final Set<String> ARDUINO_CATEGORIES = Set.of(
            "Display",
            "Communication",
            "Signal Input/Output",
            "Sensors",
            "Device Control",
            "Timing",
            "Data Storage",
            "Data Processing",
            "Other");
    /** Fields of Arduino's library specification that must have a value, and those that may be there. */
    private static final List<String> ARDUINO_FIELDS =
            List.of("name", "version", "author", "maintainer", "sentence", "category", "url", "architectures");

    private static final Set<String> ARDUINO_OPTIONS =
            Set.of("paragraph", "depends", "dot_a_linkage", "includes", "precompiled", "ldflags");

    /** Folders that arduino-lint knows or takes for misspelled ones. */
    private static final Set<String> ARDUINO_FOLDERS = Set.of("src", "examples", "extras");

    /** Keys of {@code module.yml} in the schema of Zephyr's {@code zephyr_module.py}, as far as a library may have them. */
    private static final Set<String> MODULE_KEYS = Set.of("name", "build", "samples", "tests");

    private static final Set<String> MODULE_BUILD_KEYS = Set.of("cmake", "kconfig", "depends", "settings");

    private static final List<String> PACK_ORDER = List.of(
            "vendor",
            "name",
            "description",
            "url",
            "license",
            "releases",
            "keywords",
            "conditions",
            "examples",
            "components");
    private static final Pattern LISTED = Pattern.compile("(?m)^\\s+((?:src|include)/[\\w./]+)");

    private final Path folder;
    private final List<String> broken = new ArrayList<>();

    private FormRules(Path folder) {
        this.folder = folder;
    }

    /** The rules that a library does not keep; empty if it keeps all. */
    static List<String> broken(SourceForm form, Path folder) throws IOException {
        FormRules rules = new FormRules(folder);
        rules.common(form);
        switch (form) {
            case C -> rules.listsItsSources("Makefile");
            case CMAKE -> rules.listsItsSources("CMakeLists.txt");
            case ZEPHYR -> rules.zephyr();
            case ESP_IDF -> rules.espIdf();
            case ARDUINO -> rules.arduino();
            case PLATFORMIO -> rules.platformIo();
            case CMSIS_PACK -> rules.pack();
        }
        return rules.broken;
    }

    private void hold(boolean kept, String rule) {
        if (!kept) {
            broken.add(rule);
        }
    }

    private String text(String file) throws IOException {
        hold(Files.isRegularFile(folder.resolve(file)), "there is " + file);
        return Files.isRegularFile(folder.resolve(file)) ? Files.readString(folder.resolve(file)) : "";
    }

    private static Set<String> names(JsonNode node) {
        Set<String> names = new TreeSet<>();
        node.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private void common(SourceForm form) throws IOException {
        hold(text("LICENSE").equals(Files.readString(Path.of("LICENSE"))), "the licence of the runtime is there");
        hold(text("README.md").startsWith("# kiln_"), "README.md has the library's title");
        hold(
                Files.isRegularFile(folder.resolve(form.headers()).resolve("tvmgen_gesture.h")),
                "headers are where they are found");
        for (Path file : files(folder, Integer.MAX_VALUE)) {
            boolean isText = !file.toString().matches(".*\\.(zip|pack)");
            hold(
                    !isText
                            || !Pattern.compile("@[A-Z_]+@")
                                    .matcher(Files.readString(file))
                                    .find(),
                    "every value is filled in: " + file);
        }
    }

    private static List<Path> files(Path folder, int depth) throws IOException {
        try (Stream<Path> walk = Files.walk(folder, depth)) {
            return walk.filter(Files::isRegularFile).toList();
        }
    }

    /** Exactly the sources that are there. */
    private void listsItsSources(String file) throws IOException {
        Set<String> listed = new TreeSet<>();
        Matcher matcher = LISTED.matcher(text(file));
        while (matcher.find()) {
            listed.add(matcher.group(1));
        }
        hold(listed.equals(sources()), file + " lists " + sources() + ", not " + listed);
    }

    private Set<String> sources() throws IOException {
        Set<String> there = new TreeSet<>();
        for (Path file : files(folder.resolve("src"), 1)) {
            if (file.toString().matches(".*\\.[cS]")) {
                there.add("src/" + file.getFileName());
            }
        }
        return there;
    }

    private void zephyr() throws IOException {
        JsonNode module = new YAMLMapper().readTree(text("zephyr/module.yml"));
        hold(MODULE_KEYS.containsAll(names(module)), "module.yml has known keys, not " + names(module));
        hold(MODULE_BUILD_KEYS.containsAll(names(module.path("build"))), "build has known keys");
        hold(module.path("name").asText().matches("[a-z0-9_]+"), "a module's name is a name");
        hold(!text("CMakeLists.txt").contains("zephyr_include_directories"), "no folder of headers is everybody's");
        hold(
                text("samples/proof/CMakeLists.txt")
                        .contains("target_link_libraries(app PRIVATE "
                                + module.path("name").asText()),
                "the sample links with the module");
        hold(
                Files.exists(folder.resolve(module.at("/build/cmake").asText()).resolve("CMakeLists.txt")),
                "build.cmake is its folder");
        hold(Files.exists(folder.resolve(module.at("/build/kconfig").asText())), "build.kconfig is a file");
        hold(Files.isDirectory(folder.resolve(module.at("/samples/0").asText())), "samples are folders");
        listsItsSources("CMakeLists.txt");
        Matcher option = Pattern.compile("(?m)^config (\\w+)\n\tbool ").matcher(text("Kconfig"));
        hold(option.find(), "Kconfig has an option");
        hold(text("CMakeLists.txt").contains("if(CONFIG_" + option.group(1) + ")"), "the option turns the library on");
        hold(text("samples/proof/prj.conf").contains("CONFIG_" + option.group(1) + "=y"), "the sample sets it");
        JsonNode sample = new YAMLMapper().readTree(text("samples/proof/sample.yaml"));
        hold(!sample.at("/sample/name").asText().isEmpty(), "a sample has a name");
        hold(sample.path("tests").size() == 1, "a sample has a test");
        hold(
                text("samples/proof/CMakeLists.txt").contains("find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})"),
                "a sample finds Zephyr");
    }

    private void espIdf() throws IOException {
        JsonNode manifest = new YAMLMapper().readTree(text("idf_component.yml"));
        hold(SEMANTIC_VERSION.matcher(manifest.path("version").asText()).matches(), "version is semantic");
        // The fields of the component manager's Manifest.
        List<String> allowed = List.of(
                "version",
                "targets",
                "maintainers",
                "description",
                "license",
                "tags",
                "dependencies",
                "files",
                "examples",
                "url",
                "repository",
                "documentation",
                "issues",
                "discussion",
                "repository_info");
        names(manifest).forEach(name -> hold(allowed.contains(name), "no field " + name));
        hold(
                manifest.at("/dependencies/idf").asText().matches("(>=|\\^|~)?[0-9]+(\\.[0-9]+){1,2}"),
                "a range of versions");
        hold(manifest.path("license").asText().equals("Apache-2.0"), "the licence is an identifier of SPDX");
        hold(!text("CMakeLists.txt").contains("PRIV_INCLUDE_DIRS"), "the folder of headers is the only one");
        hold(Files.isDirectory(folder.resolve(manifest.at("/examples/0/path").asText())), "examples are folders");
        hold(text("CMakeLists.txt").contains("idf_component_register("), "the component registers itself");
        listsItsSources("CMakeLists.txt");
        hold(
                text("examples/proof/main/CMakeLists.txt").contains("REQUIRES " + folder.getFileName()),
                "the example requires the component by its folder's name");
    }

    private void arduino() throws IOException {
        Properties properties = new Properties();
        properties.load(new StringReader(text("library.properties")));
        for (String field : ARDUINO_FIELDS) {
            hold(!properties.getProperty(field, "").isBlank(), "LP: the field " + field + " has a value");
        }
        properties
                .stringPropertyNames()
                .forEach(field -> hold(
                        ARDUINO_FIELDS.contains(field) || ARDUINO_OPTIONS.contains(field), "LP: no field " + field));
        String name = properties.getProperty("name", "");
        hold(name.matches("[a-zA-Z][a-zA-Z0-9 _.-]{0,62}"), "LP: the name has plain characters");
        for (String field : List.of("name", "maintainer")) {
            hold(
                    !properties.getProperty(field, "").toLowerCase(Locale.ROOT).contains("arduino"),
                    "LP: " + field + " is not Arduino's");
        }
        hold(!name.toLowerCase(Locale.ROOT).contains("library"), "LP: the name has no superfluous word");
        hold(SEMANTIC_VERSION.matcher(properties.getProperty("version", "")).matches(), "LP: version is semantic");
        hold(ARDUINO_CATEGORIES.contains(properties.getProperty("category", "")), "LP: category is one of the list");
        hold(properties.getProperty("url", "").matches("https?://[a-z0-9.-]+(/\\S*)?"), "LP: url is an address");
        hold(
                !properties.getProperty("paragraph", "").contains(properties.getProperty("sentence", "")),
                "LP: the paragraph does not repeat the sentence");
        for (String header : properties.getProperty("includes", "").split(",", -1)) {
            hold(Files.isRegularFile(folder.resolve("src").resolve(header)), "LP: includes are in src");
        }
        hold(Files.isRegularFile(folder.resolve("src/" + name + ".h")), "LS008: a header has the library's name");
        hold(
                folder.getFileName().toString().matches("[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}"),
                "LS002, LS003: the folder's name");
        try (Stream<Path> root = Files.list(folder)) {
            for (Path entry : root.toList()) {
                hold(
                        !Files.isDirectory(entry)
                                || ARDUINO_FOLDERS.contains(entry.getFileName().toString()),
                        "LS009 to LS012: no folder " + entry.getFileName());
            }
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path entry : all.toList()) {
                hold(!Files.isSymbolicLink(entry), "LS005: no link " + entry);
                hold(
                        !entry.getFileName().toString().matches("\\.development|\\.gitmodules|.*\\.exe|utility"),
                        "LS004, LS006, LS007, LS010: no " + entry);
            }
        }
        for (Path sketch : files(folder.resolve("examples"), 2)) {
            hold(
                    sketch.toString().matches(".*\\.(ino|c|cpp|h)"),
                    "a sketch has code only, not " + sketch.getFileName());
        }
        hold(Files.exists(folder.resolve("examples/Proof/Proof.ino")), "a sketch has its folder's name");
    }

    private void platformIo() throws IOException {
        JsonNode manifest = new ObjectMapper().readTree(text("library.json"));
        hold(manifest.path("name").asText().matches("[^:;/,@<>]{1,50}"), "the name has plain characters");
        hold(SEMANTIC_VERSION.matcher(manifest.path("version").asText()).matches(), "version is semantic");
        hold(
                Files.exists(folder.resolve("include")
                        .resolve(manifest.path("headers").asText())),
                "headers are in include");
        JsonNode example = manifest.at("/examples/0");
        example.path("files")
                .forEach(file -> hold(
                        Files.exists(
                                folder.resolve(example.path("base").asText()).resolve(file.asText())),
                        "examples are files"));
        hold(example.path("files").size() == 3, "the example is whole");
        hold(text("examples/proof/platformio.ini").contains("[env:"), "the example has an environment");
    }

    private void pack() throws IOException {
        Path description = folder.resolve("Kiln." + folder.getFileName() + ".pdsc");
        Element root = parsed(description);
        List<Element> parts = children(root);
        List<String> names = parts.stream().map(Element::getTagName).toList();
        List<String> sorted = PACK_ORDER.stream().filter(names::contains).toList();
        hold(names.equals(sorted), "elements are in the order of PACK.xsd, not " + names);
        hold(
                names.containsAll(List.of("vendor", "name", "description", "url", "license", "releases")),
                "required elements are there");
        hold(
                description
                        .getFileName()
                        .toString()
                        .equals(parts.get(0).getTextContent() + "."
                                + parts.get(1).getTextContent() + ".pdsc"),
                "the file is Vendor.Name.pdsc");
        NodeList files = root.getElementsByTagName("file");
        Set<String> listed = new TreeSet<>();
        for (int i = 0; i < files.getLength(); i++) {
            String name = ((Element) files.item(i)).getAttribute("name");
            hold(Files.exists(folder.resolve(name)), name + " exists");
            if (name.startsWith("src/")) {
                listed.add(name);
            }
        }
        hold(listed.equals(sources()), "the component has all sources");
        NodeList components = root.getElementsByTagName("component");
        for (int i = 0; i < components.getLength(); i++) {
            Element component = (Element) components.item(i);
            hold(SEMANTIC_VERSION.matcher(component.getAttribute("Cversion")).matches(), "Cversion is semantic");
            hold(component.getAttribute("Cclass").equals("Machine Learning"), "Cclass is one of the list");
        }
    }

    private static Element parsed(Path file) throws IOException {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
            factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
            return factory.newDocumentBuilder().parse(file.toFile()).getDocumentElement();
        } catch (ParserConfigurationException | SAXException e) {
            throw new IOException(file.toString(), e);
        }
    }

    private static List<Element> children(Element element) {
        List<Element> children = new ArrayList<>();
        for (Node node = element.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node instanceof Element child) {
                children.add(child);
            }
        }
        return children;
    }
}
