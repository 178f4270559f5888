// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.WholeFiles;
import java.io.IOException;
import java.nio.file.Path;

/** Reads and writes records as JSON: two spaces, line feeds and a last line end on every system. */
public final class Json {
    private static final ObjectMapper MAPPER = JsonMapper.builder().build();

    private Json() {}

    /** Writes a record whole or not at all. */
    public static void write(Path file, Object value) {
        WholeFiles.write(file, text(value));
    }

    /** A record as indented JSON text. */
    public static String text(Object value) {
        DefaultIndenter indenter = new DefaultIndenter("  ", "\n");
        ObjectWriter writer = MAPPER.writer(
                new DefaultPrettyPrinter().withObjectIndenter(indenter).withArrayIndenter(indenter));
        try {
            return writer.writeValueAsString(value) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("cannot write as JSON: " + value.getClass(), e);
        }
    }

    /** A record as JSON on one line, without a line end. */
    public static String line(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("cannot write as JSON: " + value.getClass(), e);
        }
    }

    /**
     * Reads a record that {@link #write} wrote.
     *
     * @throws KilnException if the file is missing or does not fit
     */
    public static <T> T read(Path file, Class<T> type) {
        try {
            return MAPPER.readValue(file.toFile(), type);
        } catch (IOException e) {
            throw new KilnException(
                    new Problem(
                            "cannot be read",
                            file.toString(),
                            "the file that an earlier step wrote",
                            "Run the build again from its start"),
                    e);
        }
    }
}
