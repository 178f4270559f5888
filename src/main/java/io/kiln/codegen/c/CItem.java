// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import java.util.List;

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
