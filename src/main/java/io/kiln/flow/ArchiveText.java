// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.report.Table;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/** Shows a Model Library Format archive, whoever made it: its models, their memory and its files. */
final class ArchiveText {
    private static final String METADATA = "metadata.json";

    private final Map<String, Long> sizes = new TreeMap<>();
    private byte[] metadata = new byte[0];

    private ArchiveText() {}

    /** What there is to say of an archive. */
    static List<String> lines(Path file) {
        ArchiveText text = new ArchiveText();
        try {
            text.read(file);
            return text.describe(file);
        } catch (IOException e) {
            throw new KilnException(
                    new Problem(
                            "cannot be read as an archive: " + e.getMessage(),
                            file.toString(),
                            "a Model Library Format archive",
                            "Fetch or build it again"),
                    e);
        }
    }

    private void read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file);
                TarArchiveInputStream tar = new TarArchiveInputStream(in)) {
            for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                String name = entry.getName().startsWith("./") ? entry.getName().substring(2) : entry.getName();
                if (entry.isFile()) {
                    sizes.put(name, entry.getSize());
                }
                if (name.equals(METADATA)) {
                    metadata = tar.readAllBytes();
                }
            }
        }
    }

    private List<String> describe(Path file) throws IOException {
        if (metadata.length == 0) {
            throw new IOException("it has no " + METADATA);
        }
        JsonNode root = new ObjectMapper().readTree(metadata);
        List<String> lines = new ArrayList<>();
        lines.add("Archive " + file + ", Model Library Format version "
                + root.path("version").asText("unknown"));
        if (root.has("modules")) {
            root.path("modules").forEach(module -> lines.addAll(module(module)));
        } else {
            lines.addAll(module(root));
        }
        lines.addAll(files());
        return lines;
    }

    private static List<String> module(JsonNode module) {
        List<String> lines = new ArrayList<>();
        lines.add("Model " + module.path("model_name").asText() + " for " + module.path("target"));
        for (JsonNode main : module.path("memory").path("functions").path("main")) {
            lines.add("  workspace " + main.path("workspace_size_bytes").asLong() + " bytes, constants "
                    + main.path("constants_size_bytes").asLong() + ", inputs and outputs "
                    + main.path("io_size_bytes").asLong());
            main.path("inputs").properties().forEach(e -> lines.add("  input  " + e.getKey() + " " + e.getValue()));
            main.path("outputs").properties().forEach(e -> lines.add("  output " + e.getKey() + " " + e.getValue()));
        }
        Table table = new Table("operator function", "workspace");
        JsonNode functions = module.path("memory").path("functions").path("operator_functions");
        for (JsonNode function : functions) {
            table.row(
                    function.path("function_name").asText(),
                    function.path("workspace")
                            .path(0)
                            .path("workspace_size_bytes")
                            .asLong());
        }
        if (!functions.isEmpty()) {
            lines.addAll(table.lines());
        }
        return lines;
    }

    /** Files by their folder, because a runtime has many. */
    private List<String> files() {
        Map<String, Long> bytes = new TreeMap<>();
        Map<String, Integer> counts = new TreeMap<>();
        sizes.forEach((name, size) -> {
            int slash = name.indexOf('/');
            String folder = slash < 0 ? name : name.substring(0, slash + 1);
            bytes.merge(folder, size, Long::sum);
            counts.merge(folder, 1, Integer::sum);
        });
        Table table = new Table("in the archive", "files", "bytes");
        bytes.forEach((folder, size) -> table.row(folder, counts.get(folder), size));
        return table.lines();
    }
}
