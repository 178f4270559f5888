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
     * @param signature the function
     * @param body statements in order
     */
    record Definition(CSignature signature, List<CStatement> body) implements CItem {
        public Definition {
            body = List.copyOf(body);
        }
    }

    /**
     * A static array of bytes without initial values.
     *
     * @param comment its content
     * @param name its name
     * @param size number of bytes, an expression
     * @param section its linker section
     * @param alignment alignment in bytes
     */
    record StaticBytes(String comment, String name, String size, String section, int alignment) implements CItem {}
}
