autocmd BufRead,BufNewFile *.wfs set filetype=wfs
