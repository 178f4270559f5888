// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import com.fasterxml.jackson.annotation.JacksonAnnotationsInside;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.introspect.AnnotatedMember;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads and writes records as JSON: two spaces, line feeds and a final line end on every system. */
public final class Json {
    /** Maps records strictly: a missing or null value is an error unless the record declares its property nullable or omits it when empty. */
    private static final ObjectMapper MAPPER = JsonMapper.builder()
            .annotationIntrospector(new RequiredKeys())
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .defaultSetterInfo(JsonSetter.Value.forValueNulls(Nulls.FAIL, Nulls.FAIL))
            .build();

    private Json() {}

    /** A component that is null where the value is not known: its property is left out then. */
    @JacksonAnnotationsInside
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @JsonSetter(nulls = Nulls.SET)
    @Retention(RetentionPolicy.RUNTIME)
    public @interface OrNull {}

    /** A component whose property is left out where there is nothing. */
    @JacksonAnnotationsInside
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    @JsonSetter(nulls = Nulls.AS_EMPTY)
    @Retention(RetentionPolicy.RUNTIME)
    public @interface OrEmpty {}

    private static final class RequiredKeys extends JacksonAnnotationIntrospector {
        private static final long serialVersionUID = 1L;

        @Override
        public Boolean hasRequiredMarker(AnnotatedMember member) {
            return !member.hasAnnotation(JsonInclude.class);
        }
    }

    /** Writes a record; the file is complete or not there. */
    public static void write(Path file, Object value) {
        WholeFiles.stream(file, out -> {
            writer().writeValue(new NoClose(out), value);
            out.write('\n');
        });
    }

    /** Keeps a stream open, which Jackson would close before the final line end is written. */
    private static final class NoClose extends FilterOutputStream {
        NoClose(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
        }

        @Override
        public void close() throws IOException {
            flush();
        }
    }

    private static ObjectWriter writer() {
        DefaultIndenter indenter = new DefaultIndenter("  ", "\n");
        return MAPPER.writer(
                new DefaultPrettyPrinter().withObjectIndenter(indenter).withArrayIndenter(indenter));
    }

    /** A record as indented JSON text. */
    public static String text(Object value) {
        try {
            return writer().writeValueAsString(value) + "\n";
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
     * Reads a record written by {@link #line}.
     *
     * @throws KilnException if the text is none
     */
    public static <T> T parse(String text, Class<T> type) {
        try {
            T value = MAPPER.readValue(text, type);
            if (value == null) {
                throw new JsonMappingException(null, "the text is empty");
            }
            return value;
        } catch (IOException e) {
            throw new KilnException(Failure.FILE.problem("not JSON as expected: " + e.getMessage(), ""), e);
        }
    }

    /**
     * Reads a record written by {@link #write}.
     *
     * @throws KilnException if the file is missing or damaged: truncated, changed by hand, of another version
     */
    public static <T> T read(Path file, Class<T> type) {
        try (InputStream in = Files.newInputStream(file)) {
            T value = MAPPER.readValue(in, type);
            if (value == null) {
                throw new JsonMappingException(null, "the file is empty");
            }
            return value;
        } catch (IOException e) {
            throw new KilnException(
                    Failure.FILE.problem(
                            "cannot be read",
                            file.toString(),
                            "the file that an earlier step wrote",
                            "Run the build again from its start"),
                    e);
        }
    }
}
