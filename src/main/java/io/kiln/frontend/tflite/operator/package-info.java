// SPDX-License-Identifier: Apache-2.0
/** The tables of all operators: opcode, versions, types and importer. */
package io.kiln.frontend.tflite.operator;
