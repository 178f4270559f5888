// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.tir.Buffer;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A C file as data: a header, or the source of its functions.
 *
 * @param origin source and target for the comment at its head
 * @param name file name
 * @param guard the include guard of a header; empty for a source
 * @param includes include names with their quotes or brackets
 * @param items in order
 */
public record CFile(CodeOrigin origin, String name, Optional<String> guard, List<String> includes, List<CItem> items) {
    public CFile {
        includes = List.copyOf(includes);
        items = List.copyOf(items);
    }

    /** Prints the file. */
    public Artifact artifact() {
        ArtifactKind kind = guard.isPresent() ? ArtifactKind.HEADER : ArtifactKind.SOURCE;
        return CGenerator.artifact(kind, name, CFilePrinter.print(this));
    }

    /** An item of a {@link CFile}. An empty comment is omitted. */
    public sealed interface CItem {
        /**
         * A constant.
         *
         * @param comment its meaning
         * @param name the macro's name
         * @param value a number
         */
        record Macro(String comment, String name, long value) implements CItem {}

        record Define(String name, String text) {}

        /**
         * Macros of one thing.
         *
         * @param comment the subject of the macros
         * @param defines in order
         */
        record Defines(String comment, List<Define> defines) implements CItem {
            public Defines {
                defines = List.copyOf(defines);
            }
        }

        /**
         * A struct whose members have one type.
         *
         * @param comment its content
         * @param name {@code struct} and its tag
         * @param type type of all members
         * @param members names of the members in order
         */
        record Struct(String comment, String name, String type, List<String> members) implements CItem {
            public Struct {
                members = List.copyOf(members);
            }
        }

        /**
         * The declaration of a function.
         *
         * @param comment what the function does
         * @param signature the function
         */
        record Prototype(String comment, CSignature signature) implements CItem {}

        /**
         * The definition of a function.
         *
         * @param comment what it does
         * @param signature the function
         * @param body statements in order
         */
        record Definition(String comment, CSignature signature, List<CStatement> body) implements CItem {
            public Definition {
                body = List.copyOf(body);
            }

            /** A function whose prototype has the comment. */
            public Definition(CSignature signature, List<CStatement> body) {
                this("", signature, body);
            }
        }

        /**
         * A constant with initial values.
         *
         * @param comment what it holds
         * @param declaration its type and name, such as {@code const int64_t shape[2]}; it is static
         * @param values of its elements or members, each on a line
         */
        record Constant(String comment, String declaration, List<String> values) implements CItem {
            public Constant {
                values = List.copyOf(values);
            }
        }

        /**
         * Code that lies in a file of its own.
         *
         * @param text the code, with the end of its last line
         */
        record Code(String text) implements CItem {}

        /**
         * A static array of bytes without initial values.
         *
         * @param comment its content
         * @param size number of bytes, an expression
         * @param section its linker section
         * @param alignment alignment in bytes
         */
        record StaticBytes(String comment, String name, String size, String section, int alignment) implements CItem {}
    }

    /** A statement of a function in a {@link CFile}. Values are C expressions. */
    public sealed interface CStatement {
        /**
         * Returns an error if a pointer is misaligned.
         *
         * @param alignment alignment in bytes, a power of two
         * @param error the returned value
         * @param errorName the error's name, for the comment
         */
        record CheckAlignment(String pointer, int alignment, String error, String errorName) implements CStatement {}

        /** A constant pointer to bytes. */
        record BytePointer(String name, String value) implements CStatement {}

        /** A struct with initial values in the order of its members. */
        record StructValue(String type, String name, List<Field> fields) implements CStatement {
            public StructValue {
                fields = List.copyOf(fields);
            }
        }

        /** Marks a parameter as unused. */
        record Ignore(String parameter) implements CStatement {}

        /** A variable with its first value, such as {@code int count}. */
        record Variable(String declaration, String value) implements CStatement {}

        /** Assigns a value to a variable or a member. */
        record Assign(String target, String value) implements CStatement {}

        /**
         * Runs statements between two calls. If the first one fails, nothing follows; if the last one fails, the status is an error.
         *
         * @param status a variable, which is an error before
         * @param first the first call, which returns 0 unless it fails
         * @param body what is done then
         * @param last the last call, which returns 0 unless it fails
         */
        record Between(String status, String first, List<CStatement> body, String last) implements CStatement {
            public Between {
                body = List.copyOf(body);
            }
        }

        /** Calls a function, and returns its error if it fails. */
        record Demand(String call) implements CStatement {}

        /**
         * Refuses a call: if a condition holds, returns an error with a message for the caller.
         *
         * @param condition when
         * @param message what {@code TVMGetLastError} gives then
         */
        record Refuse(String condition, String message) implements CStatement {}

        record Return(String value) implements CStatement {}

        /** The value of a struct's member. */
        record Field(String member, String value) {}
    }

    /**
     * Type, name and parameters of a C function.
     *
     * @param type return type
     * @param parameters each with its type, such as {@code int32_t count}
     */
    public record CSignature(String type, String name, List<String> parameters) {
        public CSignature {
            parameters = List.copyOf(parameters);
        }

        /** A function that returns 0 or an error code. */
        public static CSignature fallible(String name, List<String> parameters) {
            return new CSignature("int32_t", name, parameters);
        }

        /** {@code int32_t name(const int8_t* restrict input, ...)}. */
        public static CSignature of(PrimFunc function) {
            List<String> parameters = new ArrayList<>();
            for (Buffer buffer : function.buffers()) {
                String constness = buffer.isWritable() ? "" : "const ";
                parameters.add(constness + buffer.dtype().cName() + "* restrict " + buffer.name());
            }
            function.scalars().forEach(s -> parameters.add(s.dtype().cName() + " " + s.name()));
            return fallible(function.name(), parameters);
        }

        /** Whether a function's declaration needs {@code stdbool.h}. */
        public static boolean needsBool(PrimFunc function) {
            return function.buffers().stream().anyMatch(buffer -> buffer.dtype() == DType.BOOL);
        }

        /** The declaration, without a semicolon. */
        String text() {
            return type + " " + name + "(" + (parameters.isEmpty() ? "void" : String.join(", ", parameters)) + ")";
        }
    }
}
