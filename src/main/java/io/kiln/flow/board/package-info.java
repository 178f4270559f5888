// SPDX-License-Identifier: Apache-2.0
/** Boards as users see them: lists, descriptions, profiles and new boards. */
package io.kiln.flow.board;
