/* SPDX-License-Identifier: Apache-2.0 */
#define GREETING "hello from the project's own main\n"
