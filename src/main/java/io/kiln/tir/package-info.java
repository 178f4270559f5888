// SPDX-License-Identifier: Apache-2.0
/** The loop IR: a small imperative language from which all C is printed. */
package io.kiln.tir;
