// SPDX-License-Identifier: Apache-2.0
/** Basics: scalar types, problems, digests, files. Independent of models, boards and Maven. */
package io.kiln.base;
