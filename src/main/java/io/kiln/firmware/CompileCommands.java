// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;

/**
 * Prints {@code compile_commands.json} for editors. The user's sources are in it twice: as the copies that are
 * compiled, and at the place where they are edited.
 */
final class CompileCommands {
    private CompileCommands() {}

    static String print(FirmwareProject project) {
        CommandLines lines = new CommandLines(project);
        ArrayNode entries = JsonNodeFactory.instance.arrayNode();
        for (SourceUnit unit : project.units()) {
            entries.add(entry(project, lines, unit, unit.path()));
        }
        for (SourceUnit unit : project.units()) {
            project.code()
                    .folderOf(unit.path())
                    .map(folder -> folder.edited(unit.path()).toString())
                    .ifPresent(original -> entries.add(entry(project, lines, unit, original)));
        }
        try {
            return new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(entries) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of text can always be written", e);
        }
    }

    private static ObjectNode entry(FirmwareProject project, CommandLines lines, SourceUnit unit, String source) {
        String object = lines.relative(project.objectFile(unit));
        List<String> line = lines.compile(unit, source, object, Optional.empty());
        ObjectNode entry = JsonNodeFactory.instance.objectNode();
        entry.put("directory", project.directory().toString());
        entry.put("file", source);
        entry.put("output", object);
        line.forEach(entry.putArray("arguments")::add);
        return entry;
    }
}
