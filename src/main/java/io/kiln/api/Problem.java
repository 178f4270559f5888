// SPDX-License-Identifier: Apache-2.0
package io.kiln.api;

/**
 * One error, in the four parts of every message of Kiln; a part that says nothing is empty.
 *
 * @param id its family, such as {@code KILN-BOARD}: a section of the page "When Kiln fails"
 * @param what what happened
 * @param where the place: file, operator, line
 * @param expected what was expected instead
 * @param next what to do next
 */
public record Problem(String id, String what, String where, String expected, String next) {}
